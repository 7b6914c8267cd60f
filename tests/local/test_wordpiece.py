"""The tokens of texts: the same as the model was made with."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memoryware
from memoryware.local._wordpiece import MAX_TOKENS, tokens_of

# made with the package tokenizers 0.23 and the file tokenizer.json of the model
TABLE = [
    ("", []),
    ("  \t\n ", []),
    (
        "The orders are in PostgreSQL 17, on the server db2.",
        [
            1996,
            4449,
            2024,
            1999,
            2695,
            17603,
            2015,
            4160,
            2140,
            2459,
            1010,
            2006,
            1996,
            8241,
            16962,
            2475,
            1012,
        ],
    ),
    ("don't; can't", [2123, 1005, 1056, 1025, 2064, 1005, 1056]),
    ("a_b-c/d$3.14", [1037, 1035, 1038, 1011, 1039, 1013, 1040, 1002, 1017, 1012, 2403]),
    ("Ünïcödé FAÇADE naïve", [27260, 8508, 15743]),
    (
        "İstanbul ΣΊΣΥΦΟΣ Straße",
        [9960, 1173, 18199, 29733, 29735, 29736, 29730, 29733, 2358, 27807],
    ),
    ("我喜欢 Python。", [1855, 100, 100, 18750, 1636]),
    ("東京タワー", [1879, 1755, 1709, 30262, 30265]),
    ("한국어", [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008]),
    (
        "مرحبا بالعالم",
        [1295, 17149, 29820, 29816, 25573, 1271, 25573, 23673, 29830, 25573, 23673, 22192],
    ),
    ("good 🎉 party", [2204, 100, 2283]),
    ("\U0001f469\u200d\U0001f469\u200d\U0001f467", [100]),
    ("x[SEP]y [CLS]", [1060, 1031, 19802, 1033, 1061, 1031, 18856, 2015, 1033]),
    ("a\x00b\x85c\ufffdd\u200be\xadf", [5925, 3207, 2546]),
    ("one\u3000two\u2003three\xa0four", [2028, 2048, 2093, 2176]),
    ("é cafe\u0301", [1041, 7668]),
    (
        "supercalifragilisticexpialidocious",
        [3565, 9289, 10128, 29181, 24411, 4588, 10288, 19312, 21273, 10085, 6313],
    ),
    ("a" * 100, [13360] + [11057] * 48 + [2050]),
    ("a" * 101, [100]),
    ("１２３ ㎏ ﬁ", [100, 100, 1984]),
    ("\ue000hi", [7632]),
    ("¿qué?", [1094, 10861, 1029]),
    ("Ⅷ½²", [100]),
]


@pytest.mark.parametrize(("text", "tokens"), TABLE, ids=[ascii(text)[:30] for text, _ in TABLE])
def test_a_text_has_the_tokens_of_the_table(text, tokens):
    assert tokens_of(text) == [101, *tokens, 102]


def test_half_of_a_surrogate_pair_does_not_count():
    assert tokens_of("the \ud800 or\udfffders") == tokens_of("the orders")
    assert tokens_of("\ud83c") == [101, 102]


def test_a_long_text_is_cut_after_the_last_token_that_counts():
    words = ["one", "two", "three", "four"] * 100
    whole = tokens_of(" ".join(words))
    assert len(whole) == MAX_TOKENS
    assert whole == tokens_of(" ".join(words[:254]))
    assert whole != tokens_of(" ".join(words[:253]))


@pytest.mark.slow
@pytest.mark.parametrize("one", ["word ", "a", "カ", "中", " ", "\ud800", "🎉", "e\u0301", "a."])
def test_a_text_of_a_megabyte_has_tokens_whatever_it_is_made_of(one):
    tokens = tokens_of(one * (1_000_000 // len(one)))
    assert 2 <= len(tokens) <= MAX_TOKENS
    assert (tokens[0], tokens[-1]) == (101, 102)


@pytest.mark.parametrize("damage", ["cut", "other", "gone", "noise"])
def test_a_damaged_vocabulary_is_not_used(damage, tmp_path):
    shutil.copytree(Path(memoryware.__file__).parent, tmp_path / "memoryware")
    file = tmp_path / "memoryware" / "local" / "vocabulary.txt.gz"
    data = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        words = gzip.decompress(data).replace(b"orders", b"sredro")
        file.write_bytes({"cut": data[:-50], "other": gzip.compress(words)}.get(damage, b"x" * 99))
    script = (
        "from memoryware.errors import EmbeddingFailed\n"
        "from memoryware.local import _wordpiece\n"
        "try: print(_wordpiece.tokens_of('orders'))\n"
        "except EmbeddingFailed as error: print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "vocabulary.txt.gz of memoryware is damaged: run `pip install" in ran.stdout
