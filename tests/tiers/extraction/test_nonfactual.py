"""Words of jokes, hypotheses, doubt and reports: one vocabulary for extraction and promotion."""

from __future__ import annotations

from pathlib import Path

import pytest

from memoryware.tiers import extraction, text
from memoryware.tiers.extraction.facts import ConversationTurn
from memoryware.tiers.extraction.rules import facts_by_rules
from memoryware.tiers.text.utterances import is_own_fact

PACKAGES = (Path(extraction.__file__).parent, Path(text.__file__).parent)


@pytest.mark.parametrize(
    "text",
    [
        "Haha, I live in a castle.",
        "Imagine I live in a castle.",
        "Suppose I live in a castle.",
        "Perhaps I live in a castle.",
        "I think I live in a castle.",
        "Tom said I live in a castle.",
        "According to Tom I live in a castle.",
        "Pretend I live in a castle.",
        "Scherz, ich wohne in einem Schloss.",
        "Angenommen, ich wohne in einem Schloss.",
        "Nehmen wir an, ich wohne in einem Schloss.",
        "Ich glaube, ich wohne in einem Schloss.",
        "Vermutlich wohne ich in einem Schloss.",
        "Laut Tom wohne ich in einem Schloss.",
        "Tun wir so, als wohne ich in einem Schloss.",
        "开玩笑，我住在城堡里。",
        "假设我住在城堡里。",
        "也许我住在城堡里。",
        "小王告诉我我住在城堡里。",
        "假装我住在城堡里。",
    ],
)
def test_what_is_not_meant_is_neither_extracted_nor_promoted(text):
    assert facts_by_rules([ConversationTurn(id="1", speaker="user", text=text)]) == []
    assert not is_own_fact(text, text)


@pytest.mark.parametrize(
    "word",
    [
        "suppos",
        "according",
        "vielleicht",
        "angenommen",
        "behaupte",
        "scherz",
        "假设",
        "也许",
        "声称",
        "逗你",
        "betreff",
    ],
)
def test_each_such_word_has_one_home(word):
    files = [path for package in PACKAGES for path in package.glob("*.py")]
    homes = [path.name for path in files if word in path.read_text(encoding="utf-8").casefold()]
    homes = [name for name in homes if name in HOMES]
    assert len(homes) == 1, homes


HOMES = {
    "nonfactual.py",
    "own_words.py",
    "plain_statements.py",
    "rule_patterns.py",
    "rules.py",
    "utterances.py",
}
