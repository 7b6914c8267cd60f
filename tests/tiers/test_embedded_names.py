"""The name of a speaker is embedded with the text, which is stored as it was said."""

from __future__ import annotations

import pytest

from limits import limited
from memoryware import TieredMemory
from memoryware.settings import TierLimits
from memoryware.tiers.embedding import Embedder
from memoryware.tiers.provenance import stated_speaker
from memoryware.tiers.stores.protocol import Select
from memoryware.tiers.text.terms import named_text
from tiers.kit import HashEmbeddings
from tiers.long_term import ACME, Moody

ANN = {"speaker": "Ann"}


@pytest.mark.parametrize(
    ("content", "speaker", "text"),
    [
        ("I like tea.", "Ann", "Ann: I like tea."),
        ("I like tea.", " Ann ", "Ann: I like tea."),
        ("Ann: I like tea.", "Ann", "Ann: I like tea."),
        ("ANN: I like tea.", "Ann", "ANN: I like tea."),
        ("王芳：我喜欢茶。", "王芳", "王芳：我喜欢茶。"),
        ("我喜欢茶。", "王芳", "王芳: 我喜欢茶。"),
        ("Anna: I like tea.", "Ann", "Ann: Anna: I like tea."),
        ("Ann likes tea.", "Ann", "Ann: Ann likes tea."),
        ("I like tea.", "", "I like tea."),
        ("I like tea.", "  ", "I like tea."),
        ("I like tea.", None, "I like tea."),
        ("I like tea.", ["Ann"], "I like tea."),
        ("I like tea.", "x" * 300, f"{'x' * 100}: I like tea."),
    ],
)
def test_a_text_is_embedded_behind_the_name_of_its_speaker(content, speaker, text):
    assert named_text(content, stated_speaker({"speaker": speaker})) == text


def test_a_text_without_metadata_is_embedded_as_it_is():
    assert named_text("I like tea.", stated_speaker({})) == "I like tea."


@pytest.fixture
def model():
    return HashEmbeddings()


@pytest.fixture
def memory(model):
    with TieredMemory.open("memory://", embeddings=model) as opened:
        yield opened


def asked(model):
    return [text for texts in model.asked for text in texts]


def test_what_is_promoted_is_embedded_with_the_name_and_stored_as_it_was_said(memory, model):
    one, two, three = (
        memory.record(f"I like tea {number}.", ACME, ANN).entry for number in range(3)
    )
    memory.promote(one, by="ann")
    memory.promote(two.id, ACME, by="ann")
    memory.promote_many([three, "Tea is green."], ACME, by="ann")
    named = memory.promote("I like milk.", ACME, by="ann", metadata={"speaker": "Bob"})
    memory.supersede(named, "I like juice.", ACME, by="ann", metadata={"speaker": "Eve"})
    assert asked(model) == [
        *(f"Ann: I like tea {number}." for number in range(3)),
        "Tea is green.",
        "Bob: I like milk.",
        "Eve: I like juice.",
    ]
    stored = memory.parts.stores.long_term.find(Select.within(ACME))
    texts = {item.content for item in stored.items}
    assert texts >= {"I like tea 0.", "I like milk.", "I like juice."}


def test_each_chunk_gets_the_name(model):
    limits = limited(TierLimits, chunk_chars=40, chunk_overlap=0)
    with TieredMemory.open("memory://", embeddings=model, limits=limits) as memory:
        text = "The first paragraph is about tea.\n\nThe second one is about milk."
        memory.promote(memory.record(text, ACME, ANN).entry, by="ann")
    assert asked(model) == [f"Ann: {chunk}" for chunk in text.split("\n\n")]


def test_what_is_embedded_later_has_the_name_too(tmp_path):
    model = Moody(refuse=lambda text: text == "Ann: I like milk.")
    address = f"sqlite:///{tmp_path / 'm.db'}"
    with TieredMemory.open(address, embeddings=model) as memory:
        model.broken = OSError("down")
        for text in ("I like tea.", "I like milk."):
            memory.promote(memory.record(text, ACME, ANN).entry, by="ann")
        model.broken = None
        assert memory.embed_pending() == 1
        before = len(model.asked)
        memory.promote("Juice is sweet.", ACME, by="ann")
        assert model.asked[before:] == [["Juice is sweet."]], "a refused text is not tried again"
    other = HashEmbeddings(16)
    with TieredMemory.open(
        address, embeddings=other, embedding_space="other", on_mismatch="words"
    ) as memory:
        memory.reindex()
    assert {*asked(other)} >= {"Ann: I like tea.", "Ann: I like milk.", "Juice is sweet."}


def test_working_memory_is_compared_with_the_names(memory, model):
    memory.record("I like tea.", ACME, ANN)
    memory.retrieve("What does Ann like?", ACME)
    assert asked(model) == ["Ann: I like tea."]


class _Latin(HashEmbeddings):
    def supports(self, text):
        letters = [letter for letter in text if letter.isalpha()]
        return 3 * sum(letter.isascii() for letter in letters) >= 2 * len(letters)


@pytest.mark.parametrize(
    ("content", "speaker", "text"),
    [
        ("I like tea.", "Ann", "Ann: I like tea."),
        ("I like tea.", "王芳", "I like tea."),
        ("好的", "Alexander", "好的"),
    ],
)
def test_a_name_does_not_decide_whether_a_model_knows_a_script(content, speaker, text):
    embedder = Embedder(_Latin(), "latin")
    assert embedder.text_of(content, {"speaker": speaker}) == text
