"""A stored file as a value: what goes in comes out, in both forms."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryware.backends._filedata import (
    appended,
    bytes_of,
    digest_of,
    edited,
    file_at,
    file_from_bytes,
    file_of,
    size_of,
    text_of,
)
from memoryware.errors import EditRefused, FileNotRegular


@given(st.binary() | st.text().map(str.encode))
@example(b"")
@example(b"\0")
@example(b"\xff")
@example("é☕".encode())
@example(b"\xef\xbb\xbfmarked")
def test_bytes_come_out_as_they_went_in(data):
    file = file_from_bytes(data)

    assert bytes_of("/a", file) == data
    assert size_of(file) == len(data)
    assert file_of(file) is file


def test_text_is_stored_as_text_and_all_else_as_base64():
    assert file_from_bytes("é\r\n".encode()) == {"content": "é\r\n", "encoding": "utf-8"}
    assert file_from_bytes(b"a\0b") == {"content": "YQBi", "encoding": "base64"}
    assert file_from_bytes(b"caf\xe9") == {"content": "Y2Fm6Q==", "encoding": "base64"}


def test_the_older_form_is_lines_without_an_encoding():
    assert file_of({"content": ["a", "", "b"]}) == {"content": "a\n\nb", "encoding": "utf-8"}
    assert file_of({"content": []}) == {"content": "", "encoding": "utf-8"}
    assert file_of({"content": "plain"}) == {"content": "plain", "encoding": "utf-8"}


@pytest.mark.parametrize(
    "raw", [5, "text", [], {}, {"content": None}, {"content": b"x"}, {"content": ["a", 1]}]
)
def test_what_is_no_file_is_told_from_nothing(raw):
    assert file_of(raw) is None
    assert file_at("/a.md", None) is None
    with pytest.raises(FileNotRegular, match=r"/a\.md"):
        file_at("/a.md", raw)


def test_times_that_are_no_text_are_not_taken_over():
    raw = {"content": "x", "encoding": "utf-8", "created_at": 5, "modified_at": "2026-01-01"}

    assert file_of(raw) == {"content": "x", "encoding": "utf-8", "modified_at": "2026-01-01"}


def test_bytes_that_are_text_in_another_encoding_are_read_as_on_a_disk():
    assert text_of("/a.md", file_from_bytes("über".encode("utf-16"))) == "über"
    assert text_of("/a.md", file_from_bytes(b"caf\xe9")) == "caf\ufffd"
    assert text_of("/a.md", file_from_bytes(b"\xef\xbb\xbfmarked")) == "marked"


def test_a_change_keeps_the_byte_order_mark_and_refuses_what_is_no_text():
    marked, binary = file_from_bytes(b"\xef\xbb\xbfone\r\n"), file_from_bytes(b"\xff\0")
    changed, count = edited("/a.md", marked, "one", "two", every=False)

    assert (bytes_of("/a.md", changed), count) == (b"\xef\xbb\xbftwo\r\n", 1)
    assert bytes_of("/a.md", appended("/a.md", marked, "two")) == b"\xef\xbb\xbfone\r\ntwo\r\n"
    for change in (
        lambda: edited("/a.bin", binary, "x", "y", every=False),
        lambda: appended("/a.bin", binary, "x"),
    ):
        with pytest.raises(EditRefused, match="not text"):
            change()


def test_a_digest_tells_contents_apart_and_nothing_else():
    text, binary = file_from_bytes(b"YQBi"), file_from_bytes(b"a\0b")

    assert text["content"] == binary["content"]
    assert len({digest_of(text), digest_of(binary), digest_of(None)}) == 3
    assert digest_of({**text, "modified_at": "2026"}) == digest_of(text)


def test_text_in_another_encoding_is_changed_in_it():
    for encoding in ("utf-16", "utf-32"):
        wide = file_from_bytes("one\r\n".encode(encoding))
        changed, count = edited("/a.md", wide, "one", "two", every=False)

        assert (changed["encoding"], text_of("/a.md", changed), count) == ("base64", "two\r\n", 1)
        longer = bytes_of("/a.md", appended("/a.md", changed, "three"))
        assert longer == "two\r\nthree\r\n".encode(encoding)


def test_bytes_that_are_not_valid_stay_beside_a_change():
    latin = file_from_bytes(b"caf\xe9 tea")
    changed, _ = edited("/a.md", latin, "tea", "milk", every=False)

    assert bytes_of("/a.md", changed) == b"caf\xe9 milk"
    assert bytes_of("/a.md", appended("/a.md", changed, "x")) == b"caf\xe9 milk\nx\n"
