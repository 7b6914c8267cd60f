"""What `help` shows of the classes that users construct first."""

from __future__ import annotations

import inspect
import pydoc

import pytest

from memoryware.backends import HistoryBackend, StateBackend, StoreBackend
from memoryware.middleware import MemoryMiddleware, TieredMemoryMiddleware

OPTIONS_BY_TOPIC = (MemoryMiddleware, TieredMemoryMiddleware)
LEAD = 20
"""Lines of a docstring in which an example and the options by topic begin."""


@pytest.mark.parametrize(
    "kind",
    [*OPTIONS_BY_TOPIC, HistoryBackend, StateBackend, StoreBackend],
    ids=lambda kind: kind.__name__,
)
def test_help_shows_no_address_of_an_object(kind):
    head = pydoc.render_doc(kind, renderer=pydoc.plaintext).partition("Method resolution order")[0]
    assert kind.__name__ in head
    assert " at 0x" not in head


@pytest.mark.parametrize("kind", OPTIONS_BY_TOPIC, ids=lambda kind: kind.__name__)
def test_help_begins_with_an_example_and_groups_all_options(kind):
    doc = inspect.getdoc(kind) or ""
    lead, _, described = doc.partition("Args:")
    first = lead.splitlines()[:LEAD]
    assert any("create_agent(" in line for line in first)
    assert any(line.startswith("Options by topic") for line in first)
    options = [
        name
        for name in inspect.signature(kind.__init__).parameters
        if name not in ("self", "memory")
    ]
    assert [name for name in options if f"`{name}`" not in lead] == []
    assert [name for name in options if f"    {name}: " not in described] == []
