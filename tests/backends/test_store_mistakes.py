"""What users get wrong about namespaces."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langgraph.store.memory import InMemoryStore

from kit import ScriptedModel
from memoryware import MemoryMiddleware, StoreBackend
from memoryware.errors import NamespaceError, SettingError


def test_a_template_is_refused_because_all_users_would_share_it():
    with pytest.raises(NamespaceError, match="not a template"):
        StoreBackend(namespace=("memory", "{user_id}"), store=InMemoryStore())


def test_an_id_with_braces_is_still_an_id():
    backend = StoreBackend(namespace=lambda _: ("memory", "{ann}"), store=InMemoryStore())

    assert backend.write("/a.md", "hers").error is None
    assert backend.read("/a.md").file_data["content"] == "hers"


def test_a_store_by_position_is_refused_with_the_name_to_use():
    with pytest.raises(SettingError, match="StoreBackend\\(store="):
        StoreBackend(InMemoryStore(), namespace=("memory", "ann"))


def test_a_number_as_id_says_what_to_do():
    backend = StoreBackend(namespace=lambda _: ("memory", 7), store=InMemoryStore())
    with pytest.raises(NamespaceError, match=r"str\(id\)"):
        backend.read("/a.md")


@pytest.mark.parametrize(
    "namespace",
    [
        lambda runtime: ("memory", runtime.config["configurable"]["user"]),
        lambda runtime: ("memory", runtime.context["user"]),
        lambda runtime: ("memory", runtime.runtime.context["user"]),
    ],
)
def test_a_namespace_may_come_from_the_config_or_the_context(namespace):
    store = InMemoryStore()
    for user in ("ann", "bob"):
        StoreBackend(store=store, namespace=("memory", user)).write("/a.md", f"of {user}")
    model = ScriptedModel()
    memory = MemoryMiddleware(backend=StoreBackend(namespace=namespace), sources=["/a.md"])
    agent = create_agent(model, middleware=[memory], store=store, context_schema=dict)
    for user in ("ann", "bob"):
        agent.invoke(
            {"messages": [("user", "hi")]},
            {"configurable": {"user": user}},
            context={"user": user},
        )

    assert ["of ann" in model.system(n) for n in range(2)] == [True, False]
    assert "of bob" in model.system(1)
