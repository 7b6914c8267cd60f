"""How texts are cut into words: the same in every engine, and stable."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from memoryware.tiers.text import terms
from memoryware.tiers.text.terms import WORDS_VERSION, plain_words, query_words, stem, words_of

SAMPLE = (
    "Deployments decided by Ann's team run on Kubernetes; max_tokens=10,000 and v2.0.1."
    " 数据库用的是PostgreSQL 16。 バスとﾊﾞｽ 데이터베이스를 हिन्दी ภาษาไทย Müller & Söhne naïve"
    " maxTokens PostgreSQL17 ABC-1234 شماره ۱۷ Versand\u00adbuch \u0130z"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t", []),
        ("?!… — 🎉", []),
        ("Which Database?", ["which", "databas"]),
        ("Müller & SÖHNE", ["muller", "sohn"]),
        ("ＡＢＣ　１２", ["abc", "12"]),
        (
            "数据库用的是PostgreSQL",
            [
                "数据",
                "据库",
                "库用",
                "用的",
                "的是",
                "postgresql",
                "postgr",
                "sql",
                *"数据库用的是",
            ],
        ),
        ("猫", ["猫"]),
        ("バスとハス ﾊﾞｽ", ["バス", "スと", "とハ", "ハス", "バス"]),
        ("데이터를 저장", ["데이", "이터", "터를", "저장"]),
        ("हिन्दी में", ["हिनदी", "में"]),
        ("кофеёк йод", ["кофеек", "иод"]),
        ("1,234,567 rows, 3.14", ["1234567", "row", "3", "14"]),
        ("id x_17-b", ["id", "x_17", "x", "17", "b"]),
        ("__init__", ["__init__"]),
        ("max_tokens", ["max_tokens", "max", "token"]),
        ("maxTokens", ["maxtoken", "max", "token"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("Versand\u00adbuch\u200bhal\u2060tung\ufeff", ["versandbuchhaltung"]),
        ("\u0130stanbul ISTANBUL \u0131stanbul istanbul", ["istanbul"] * 4),
        ("يزد یزد", ["يزد", "يزد"]),
        ("كتـــاب کتاب كِتاب", ["كتاب"] * 3),
        ("شماره ۱۷ رقم ١٧ संख्या १७", ["شمار", "17", "رقم", "17", "संखया", "17"]),
        ("PostgreSQL17", ["postgresql17", "postgresql", "17", "postgr", "sql"]),
        ("Python3 GPT4", ["python3", "gpt4", "python", "3", "gpt", "4"]),
        ("16GB 3rd", ["16gb", "3rd", "16", "gb"]),
        ("ABC-1234", ["abc", "1234", "abc1234"]),
        ("my Check-Up", ["my", "check", "up", "checkup"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("db2 e6f0d1c2 2nd", ["db2", "e6f0d1c2", "2nd"]),
    ],
)
def test_a_text_is_cut_into_these_words(text, words):
    assert words_of(text) == words


def test_what_is_stored_is_found_by_the_words_of_this_version():
    """A change of this digest needs another WORDS_VERSION, and words that are made anew."""
    digest = hashlib.sha256(" ".join(words_of(SAMPLE)).encode()).hexdigest()[:16]
    assert (WORDS_VERSION, digest) == (4, "5fb695b5a2e35b8b")


@pytest.mark.parametrize(
    "family",
    [
        "decide decides decided deciding",
        "deploy deployed deploys deploying deployment deployments",
        "connect connected connecting connection connections",
        "run running runs ran",
        "buy bought buying",
        "ride rode ridden riding",
        "steal stole stolen",
        "freeze froze frozen",
        "die dies died dying",
        "child children",
        "goose geese",
        "shelf shelves",
        "database databases",
        "city cities",
        "relational relation",
        "hopping hop hops",
    ],
)
def test_forms_of_an_english_word_are_one(family):
    assert len({stem(one) for one in family.split()}) == 1


STEMS = [
    line.split("\t")
    for line in Path(__file__).with_name("stems.tsv").read_text().splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("package", ["snowballstemmer.porter_stemmer", "Stemmer"])
def test_words_have_the_stems_that_indexes_hold(package, monkeypatch):
    """Snowball in Python and in C, and the stemmer with which indexes of 0.1.0 were made."""
    module = import_module(package)
    make = module.Stemmer if package == "Stemmer" else lambda _: module.PorterStemmer()
    monkeypatch.setattr(snowballstemmer, "stemmer", make)
    monkeypatch.setattr(terms, "_snowball", terms._Snowball())
    assert [[word, terms._stem(word)] for word, _ in STEMS] == STEMS


@pytest.mark.slow
def test_threads_stem_at_the_same_time(monkeypatch):
    porter = import_module("snowballstemmer.porter_stemmer")
    monkeypatch.setattr(snowballstemmer, "stemmer", lambda _: porter.PorterStemmer())
    monkeypatch.setattr(terms, "_snowball", terms._Snowball())
    words = [word for word, _ in STEMS] * 4
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(terms._stem, words)] == [stem for _, stem in STEMS] * 4


@given(st.text("aeioubcdghklmnrstvxyz", max_size=8), st.sampled_from(["", *terms._ENDINGS]))
def test_a_word_that_is_not_given_to_snowball_is_its_own_stem(start, ending):
    word = start + ending
    if not word.endswith(terms._ENDINGS):
        assert snowballstemmer.stemmer("porter").stemWord(word) == word


def test_names_that_only_look_alike_stay_apart():
    for one, other in (("port", "portal"), ("use", "user"), ("redis", "redux"), ("is", "i")):
        assert stem(one) != stem(other)


@pytest.mark.parametrize(
    "name", ["db2", "v17", "sha256", "x_17", "a1b2c3", "e6f0d1c2", "postgresql", "16", "größe"]
)
def test_names_codes_and_numbers_are_found_as_they_are(name):
    assert words_of(f"The {name.upper()} is here")[1] in words_of(name)
    assert query_words(f"what about {name}?")[0] in words_of(f"we use {name}.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PostgreSQL17", "PostgreSQL"),
        ("PostgreSQL17", "postgresql 17"),
        ("PostgreSQL 17", "PostgreSQL17"),
        ("python3", "Python 3"),
        ("GPT-4", "GPT4"),
        ("GPT4", "gpt 4"),
        ("ABC-1234", "abc1234"),
        ("abc1234", "ABC-1234"),
        ("AB\u201112", "AB12"),
        ("maxTokens", "max_tokens"),
        ("max tokens", "maxTokens"),
        ("getUserName", "user name"),
        ("16GB", "16 GB"),
        ("check-up", "checkups"),
        ("e-mails", "email"),
        ("wi-fi", "WiFi"),
        ("co-worker", "coworkers"),
        ("DI\u015e\u0130", "di\u015fi"),
        ("علي", "علی"),
        ("\u200eRLM\u200f", "rlm"),
    ],
)
def test_a_name_is_found_however_it_is_written(one, other):
    assert set(query_words(other)) & set(words_of(f"we use {one} here"))
    assert set(query_words(one)) & set(words_of(f"we use {other} here"))


def test_no_part_of_a_code_is_taken_for_the_code():
    for query, text in (("db2", "db3"), ("e6f0", "e6f1"), ("2nd", "3rd"), ("v2", "v3")):
        assert not set(query_words(query)) & set(words_of(text))


def test_a_question_is_asked_without_its_empty_words():
    assert query_words("Which database do we use?") == ["databas", "us"]
    assert query_words("What is it?") == ["what", "is", "it"]
    assert query_words("tea tea TEA") == ["tea"]
    assert query_words("") == []
    assert query_words("这个数据库") == ["个数", "数据", "据库", "数", "据", "库"]
    assert query_words("这个") == ["这个"]


def test_no_person_is_lost_to_the_list_of_empty_words():
    for name in ("Will", "May", "Don", "Mai"):
        assert query_words(name) == words_of(name)


@given(st.text(max_size=80))
def test_words_are_the_same_for_the_same_text_whatever_its_case_or_form(text):
    words = words_of(text)
    assert words == words_of(text)
    assert all(words)
    assert not any(one.isspace() for word in words for one in word)
    assert set(query_words(text)) <= set(words)
    assert words_of(unicodedata.normalize("NFD", unicodedata.normalize("NFC", text))) == words_of(
        unicodedata.normalize("NFC", text)
    )


@given(st.lists(st.sampled_from("ab猫犬é한 _-.,1"), max_size=30).map("".join))
def test_cutting_its_words_again_changes_nothing_but_endings(text):
    assert plain_words(" ".join(plain_words(text))) == plain_words(text)


@pytest.mark.slow
def test_a_large_text_is_cut_in_reasonable_time():
    assert len(words_of("décidé deciding 数据库 " * 20_000)) == 140_000


@given(st.text("ab_Z09,. -'\n", max_size=20))
def test_a_plain_text_has_the_same_words_beside_another_script(text):
    assert plain_words(f"{text} 中") == [*plain_words(text), "中"]
    assert Counter(words_of(f"{text} 中")) == Counter([*words_of(text), "中"])
