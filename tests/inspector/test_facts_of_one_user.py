"""Facts of one user in the review queue: for whom they are, and sharing them."""

import re

import pytest

from inspector.rig import SCOPE, decide, opened, status
from memoryware import MemoryScope
from memoryware.tiers import MemoryManager

MIA = MemoryScope(tenant=SCOPE.tenant, group_id=SCOPE.group_id, user_id="mia", session_id="monday")


@pytest.fixture
def queue(memory):
    with MemoryManager(memory, background=False) as manager:
        manager.learn([("user", "I'm allergic to nuts.")], MIA)
    return opened(memory)


def recalled(memory, user):
    scope = MemoryScope(tenant=SCOPE.tenant, group_id=SCOPE.group_id, user_id=user)
    return [item.content for item in memory.retrieve("allergic to nuts", scope)]


def test_a_card_says_for_whom_it_is_and_an_approval_keeps_to_it(memory, queue):
    page = queue.get("/review").text
    assert "for mia alone, if approved" in re.sub(r"<[^>]+>", "", page)
    decide(queue, "approve", page)
    assert recalled(memory, "mia") == ["I'm allergic to nuts."]
    assert recalled(memory, "bo") == []


def test_it_can_be_shared_and_undone(memory, queue):
    answer = decide(queue, "share", queue.get("/review").text)
    assert "Approved" in status(answer.text)
    assert recalled(memory, "bo") == ["I'm allergic to nuts."]


def test_what_is_edited_stays_for_the_user(memory, queue):
    decide(queue, "edit", queue.get("/review").text, text="I'm allergic to nuts and sesame.")
    assert recalled(memory, "mia") == ["I'm allergic to nuts and sesame."]
    assert recalled(memory, "bo") == []
