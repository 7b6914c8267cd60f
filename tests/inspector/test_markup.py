"""Markup is escaped by how it is made."""

import pytest

from memoryware.inspector._markup import body, element, h, joined, one_line, visible


def test_a_text_in_an_element_is_never_markup():
    assert str(h.p("<script>", ["&", None, 3])) == "<p>&lt;script&gt;&amp;3</p>"


def test_a_value_cannot_leave_its_attribute():
    assert str(h.p(title='"><img src=x>')) == '<p title="&quot;&gt;&lt;img src=x&gt;"></p>'


def test_what_was_made_is_not_escaped_again():
    assert str(joined(h.b("<"), "<")) == "<b>&lt;</b>&lt;"


@pytest.mark.parametrize("name", ["onclick", "onError", "style", "on", "a b", "x>"])
def test_an_attribute_that_could_run_something_cannot_be_written(name):
    with pytest.raises(ValueError, match="no attribute"):
        element("p", **{name: "x"})


@pytest.mark.parametrize(
    "link", ["https://example.com", "//example.com", "/\\example.com", "javascript:x", " /x", ""]
)
def test_a_link_stays_on_this_host(link):
    with pytest.raises(ValueError, match="on this host"):
        h.a("x", href=link)


@pytest.mark.parametrize("name", ["script", "style", "iframe", "object", "embed"])
def test_elements_that_run_something_are_not_there(name):
    with pytest.raises(AttributeError):
        getattr(h, name)


def test_characters_that_hide_are_spelled_out():
    shown = str(visible("paid \u202etwice\u202c\u200b <b>"))
    assert "&lt;U+202E&gt;</mark>twice" in shown
    assert "&lt;U+202C&gt;&lt;U+200B&gt;</mark> &lt;b&gt;" in shown
    assert "RIGHT-TO-LEFT OVERRIDE" in shown
    assert not {"\u202e", "\u202c", "\u200b"} & set(shown)


def test_half_a_character_can_be_sent():
    assert "&lt;U+D800&gt;" in str(visible("a\ud800b"))
    str(h.p("a\ud800\x00b")).encode()


def test_what_a_script_needs_is_left_as_it_is():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert str(visible(family)) == family


def test_a_long_text_is_cut_and_the_whole_of_it_is_a_link_away():
    shown = str(body("word " * 200_000, 100, "/memories/text?id=a"))
    assert len(shown) < 1000
    assert 'href="/memories/text?id=a"' in shown
    assert "100 of 1,000,000 characters" in shown


def test_one_line_is_one_line():
    assert str(one_line("a\n\n  b\tc" + " d" * 500, 9)) == "<bdi>a b c d d\u2026</bdi>"
