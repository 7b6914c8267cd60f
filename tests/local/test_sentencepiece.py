"""The tokens of the multilingual model: the same as the operator in its file makes."""

from __future__ import annotations

import time

import pytest

from local.multilingual import multilingual_file
from memoryware.local._sentence_encoder import without_tokenizer
from memoryware.local._sentencepiece import MAX_TOKENS, SentencePiece

# made with the operator of onnxruntime-extensions 0.15.2
TABLE = [
    ("", []),
    ("  \t\n ", []),
    ("She can't digest milk.", [1086, 114, 11, 31, 47027, 8955, 8]),
    (
        "Ich wohne seit März in München, Straße 7.",
        [674, 6, 62404, 5019, 19719, 16, 20361, 7, 25410, 3361],
    ),
    ("我喜欢在周末喝咖啡。", [325, 4879, 171, 2503, 5751, 3577, 11926, 14086, 27]),
    ("東京タワー で会う", [22870, 80128, 6, 126, 561, 1208]),
    ("나는 서울에서 산다", [6, 51581, 24085, 1396, 17745, 2771]),
    ("Она работает в больнице.", [22134, 23350, 117, 121142, 8]),
    ("أعمل ممرضة في عيادة", [2444, 46435, 1150, 82948, 512, 202, 6, 37418, 34772]),
    ("ผมชอบดื่มกาแฟ", [6, 44857, 24629, 104949, 115346]),
    ("ｆｕｌｌ\u3000ＷＩＤＴＨ １２３ ㎏ ﬁ ½", [1969, 318, 3309, 5716, 26690, 3106, 7950, 32259]),
    ("cafe\u0301 é", [15567, 165]),
    ("नमस्ते दुनिया", [6, 83420, 0, 54979, 0, 6, 0, 83420, 0, 42296]),
    ("🎉🎉 party 🎉", [6, 0, 3499, 6, 0]),
    ("a\u200bb\u00adc", [10, 254, 127940, 249]),
    ("x </s> <s> y", [257, 6372, 9, 65, 87, 9, 65, 51]),
    ("a ▁ b", [10, 254]),
    ("https://example.org/a_b?c=1", [146, 9, 119, 36678, 8, 1211, 38, 29, 77, 305, 21, 249, 1674]),
]


@pytest.fixture(scope="module")
def pieces() -> SentencePiece:
    _, serialized, _ = without_tokenizer(multilingual_file().read_bytes())
    return SentencePiece.from_bytes(serialized)


@pytest.mark.parametrize(("text", "tokens"), TABLE, ids=[ascii(text)[:30] for text, _ in TABLE])
def test_a_text_has_the_tokens_of_the_table(pieces, text, tokens):
    assert pieces.tokens_of(text) == [1, *tokens, 2]


def test_half_of_a_surrogate_pair_and_what_follows_a_zero_byte(pieces):
    assert pieces.tokens_of("milk \ud800 and\udfff tea") == pieces.tokens_of("milk and tea")
    assert pieces.tokens_of("\ud83c") == [1, 2]
    assert pieces.tokens_of("milk\0 tea")[-2:] == pieces.tokens_of("milk tea")[-2:]


def test_a_long_text_is_cut_after_the_last_token_that_counts(pieces):
    tokens = pieces.tokens_of("one two three four " * 200)
    assert len(tokens) == MAX_TOKENS
    assert tokens == pieces.tokens_of("one two three four " * 128)


@pytest.mark.parametrize(
    "part", ["word ", "a", "カ", "中", " ", "\ud800", "🎉", "e\u0301", "и\u0306"]
)
def test_a_text_of_a_megabyte_has_tokens_in_time_whatever_it_is_made_of(pieces, part):
    start = time.process_time()
    tokens = pieces.tokens_of(part * (1_000_000 // len(part)))
    assert time.process_time() - start < 2
    assert 2 <= len(tokens) <= MAX_TOKENS
    assert (tokens[0], tokens[-1]) == (1, 2)


@pytest.mark.parametrize("damaged", [b"", b"\x0a", b"\x0a\xff\xff", b"\x3a\x00", b"x" * 99])
def test_what_is_no_model_is_an_error_of_values(damaged):
    with pytest.raises(ValueError):
        without_tokenizer(damaged)
