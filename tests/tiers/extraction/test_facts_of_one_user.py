"""Facts of one user: proposed for that user alone, never merged with those of another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from kit import ScriptedModel, say
from memoryware import (
    MemoryScope,
    Origin,
    PromotionPolicy,
    Provenance,
    TieredMemory,
    TieredMemoryMiddleware,
)
from memoryware.errors import SettingError
from memoryware.tiers import MemoryManager

MIA = MemoryScope(group_id="shop", user_id="mia", session_id="mia's")
BO = MemoryScope(group_id="shop", user_id="bo", session_id="bo's")
EVE = MemoryScope(group_id="shop", user_id="eve", session_id="eve's")


@pytest.fixture(params=["memory://", "sqlite"])
def memory(request, tmp_path):
    address = f"sqlite:///{tmp_path}/m.db" if request.param == "sqlite" else request.param
    with TieredMemory.open(address) as memory:
        yield memory


def recalled(memory, scope, query="allergic answers deploy"):
    return sorted(item.content for item in memory.retrieve(query, scope))


def promote_all(memory, **options):
    for insight in memory.digest("shop").insights:
        memory.promote(insight, by="person:rita", **options)


def test_two_users_who_say_the_same_of_themselves_are_two_decisions(memory, manager):
    talk = [("user", "I'm allergic to nuts. Please keep answers short. We deploy on Mondays.")]
    manager.learn(talk, MIA)
    manager.learn(talk, BO)
    insights = memory.digest("shop").insights
    personal = sorted(
        (insight.summary, insight.scope.user_id) for insight in insights if insight.personal
    )
    assert personal == [
        ("I'm allergic to nuts.", "bo"),
        ("I'm allergic to nuts.", "mia"),
        ("Please keep answers short.", "bo"),
        ("Please keep answers short.", "mia"),
    ]
    mine = next(item for item in insights if item.personal and item.scope.user_id == "mia")
    memory.promote(mine, by="person:rita")
    left = [
        item.scope.user_id
        for item in memory.digest("shop").insights
        if item.summary == mine.summary
    ]
    assert left == ["bo"]
    promote_all(memory)
    everything = ["I'm allergic to nuts.", "Please keep answers short.", "We deploy on Mondays."]
    assert recalled(memory, MIA) == recalled(memory, BO) == everything
    assert recalled(memory, EVE) == ["We deploy on Mondays."]
    assert memory.digest("shop").waiting == 0


def test_a_rejection_is_of_one_user(memory, manager):
    for scope in (MIA, BO):
        manager.learn([("user", "I'm allergic to nuts.")], scope)
    first, _ = memory.digest("shop").insights
    memory.reject(first, by="person:rita", reason="a joke")
    (left,) = memory.digest("shop").insights
    assert {first.scope.user_id, left.scope.user_id} == {"mia", "bo"}


def test_a_correction_of_a_user_names_and_replaces_the_fact_of_that_user(memory, manager):
    for scope in (MIA, BO):
        manager.learn([("user", "I work from our office in Lisbon.")], scope)
    promote_all(memory)
    manager.learn([("user", "I work from our office in Porto now.")], MIA)
    (insight,) = memory.digest("shop").insights
    (old,) = insight.contradicts
    assert memory.get(old, "shop").scope.user_id == "mia"
    memory.promote(insight, by="person:rita")
    assert recalled(memory, MIA, "office") == ["I work from our office in Porto now."]
    assert recalled(memory, BO, "office") == ["I work from our office in Lisbon."]


def test_a_fact_of_one_user_ends_nothing_that_others_share(memory, manager):
    shared = "The user works from the office in Lisbon."
    memory.promote(shared, "shop", by="person:rita")
    (fact,) = manager.learn([("user", "I work from the office in Porto now.")], MIA).facts
    assert fact.action == "add"
    promote_all(memory)
    assert recalled(memory, EVE, "office") == [shared]


def test_a_reviewer_may_share_it(memory, manager):
    manager.learn([("user", "I am responsible for the invoices.")], MIA)
    promote_all(memory, shared=True)
    assert recalled(memory, EVE, "invoices") == ["I am responsible for the invoices."]


def test_a_fact_of_the_group_is_for_all(memory, manager):
    manager.learn([("user", "We decided to ship on Thursdays. Our server is db2.")], MIA)
    assert not any(insight.personal for insight in memory.digest("shop").insights)
    promote_all(memory)
    assert recalled(memory, EVE, "ship server") == [
        "Our server is db2.",
        "We decided to ship on Thursdays.",
    ]


def test_a_personal_memory_needs_no_owner_inside(memory, manager):
    scope = MemoryScope.personal("mia")
    manager.learn([("user", "I'm allergic to nuts.")], scope)
    (insight,) = memory.digest(scope).insights
    assert not insight.personal
    memory.promote(insight, by="person:rita")
    assert recalled(memory, scope) == ["I'm allergic to nuts."]


def test_forgetting_a_user_leaves_the_same_fact_of_another(memory, manager):
    for scope in (MIA, BO):
        manager.learn([("user", "I'm allergic to nuts.")], scope)
    promote_all(memory)
    memory.forget(MemoryScope(group_id="shop", user_id="mia"), by="person:rita")
    assert recalled(memory, MIA) == []
    assert recalled(memory, BO) == ["I'm allergic to nuts."]


def test_shared_and_an_agent_are_no_pair(memory):
    entry = memory.record("Ann likes tea.", "shop", provenance=Provenance(Origin("user", "ann")))
    with pytest.raises(SettingError, match="shared=True"):
        memory.promote(entry.entry, by="ann", shared=True, agent_id="helper")
    with pytest.raises(SettingError, match="shared"):
        memory.promote(entry.entry, by="ann", shared="yes")


def test_what_a_reviewer_edits_or_names_stays_for_the_user_alone(memory, manager):
    manager.learn([("user", "I'm allergic to nuts. I live in Lisbon.")], MIA)
    edited, named = memory.digest("shop").insights
    memory.promote(replace(edited, summary=f"{edited.summary} (Mia)"), by="person:rita")
    memory.promote(named, by="person:rita", subject="of mia")
    assert len(recalled(memory, MIA, "allergic live Lisbon")) == 2
    assert recalled(memory, EVE, "allergic live Lisbon") == []


def test_a_text_that_a_person_writes_for_the_group_is_for_the_group(memory, manager):
    manager.learn([("user", "I'm allergic to nuts.")], MIA)
    memory.promote("I'm allergic to nuts.", "shop", by="person:rita")
    assert recalled(memory, EVE) == ["I'm allergic to nuts."]


def test_a_replacement_is_shown_to_whom_the_old_one_was(memory, manager):
    (old,) = memory.promote("Mia works in Lisbon.", "shop", by="person:rita").memories
    manager.learn([("user", "I work in Porto now.")], MIA)
    (insight,) = memory.digest("shop").insights
    memory.supersede(old, insight, by="person:rita")
    assert recalled(memory, EVE, "work Porto Lisbon") == ["I work in Porto now."]


def test_a_request_to_forget_a_long_text_is_one_decision(memory, manager):
    long = "My office is in Lisbon. It has a red door. The coffee there is good."
    entry = memory.record(long, replace(MIA, session_id="older"), role="user").entry
    memory.promote(entry, by="person:rita")
    (fact,) = manager.learn([("user", "Please forget that my office is in Lisbon.")], MIA).facts
    assert fact.action == "delete"
    (insight,) = memory.digest("shop").insights
    assert memory.promote(insight, by="person:rita").memories == ()
    assert recalled(memory, MIA, "office Lisbon door") == []


def test_a_bundle_keeps_for_whom_a_text_is(memory, manager):
    manager.learn([("user", "I'm allergic to nuts.")], MIA)
    promote_all(memory)
    manager.learn([("user", "I am allergic to latex.")], MIA)
    with TieredMemory.open("memory://") as other:
        other.import_bundle(memory.export("shop"), "shop", name="moved")
        for insight in other.digest("shop").insights:
            assert insight.personal
            other.promote(insight, by="person:rita")
        assert recalled(other, BO) == []
        assert recalled(other, replace(MIA, user_id=None)) == []
        assert recalled(other, MIA) == ["I am allergic to latex.", "I'm allergic to nuts."]


def test_a_correction_by_a_reviewer_is_forgotten_with_the_user(memory, manager):
    manager.learn([("user", "My salary is 3200 euros.")], MIA)
    (promotion,) = [
        memory.promote(insight, by="person:rita") for insight in memory.digest("shop").insights
    ]
    memory.supersede(promotion, "My salary is 3300 euros.", MemoryScope(group_id="shop"), by="rita")
    assert recalled(memory, MIA, "salary") == ["My salary is 3300 euros."]
    assert recalled(memory, BO, "salary") == []
    memory.forget(MemoryScope(group_id="shop", user_id="mia"), by="rita")
    assert recalled(memory, MIA, "salary") == []
    assert memory.list("shop").total == 0


@pytest.mark.parametrize("recalls", [False, True], ids=["retrieved", "recalled"])
@pytest.mark.parametrize(
    "policy", [PromotionPolicy(), PromotionPolicy.automatic(after=timedelta(0))], ids=["no", "auto"]
)
def test_an_answer_to_whom_a_fact_was_shown_is_for_that_user_alone(policy, recalls):
    with TieredMemory.open("memory://", policy=policy) as memory:
        with MemoryManager(memory, background=False) as manager:
            manager.learn([("user", "I'm allergic to nuts.")], MIA)
        promote_all(memory)
        call = {"name": "recall", "args": {"query": "allergic"}, "id": "1"}
        text = "Leave the filling out of the cake of the shop."
        model = ScriptedModel(*([AIMessage("", tool_calls=[call])] if recalls else []), say(text))
        middleware = TieredMemoryMiddleware(memory, retrieve=None if recalls else "run")
        agent = create_agent(model, middleware=[middleware])
        caller = {"thread_id": "1", "group_id": "shop", "user_id": "mia"}
        asked = {"messages": "Which allergic ingredients must the cake leave out?"}
        agent.invoke(asked, {"configurable": caller})
        assert any("allergic to nuts" in str(request) for request in model.requests)
        query = "the filling of the cake"
        assert recalled(memory, MIA, query) == [text]
        assert recalled(memory, BO, query) == []
        memory.promote(text, "shop", by="person:rita")
        assert recalled(memory, BO, query) == [text]
