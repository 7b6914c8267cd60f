"""Forms of irregular German verbs are one word, and a prefix that stands apart belongs to its verb."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware._unicode import fold
from memoryware.tiers.text.german_verbs import separated_verbs, verb_stem
from memoryware.tiers.text.terms import query_words, words_of


@pytest.mark.parametrize(
    "forms",
    [
        "fahren fuhr fuhren gefahren fährt",
        "essen aß isst gegessen",
        "sprechen sprach spricht gesprochen gesprochene",
        "verlieren verlor verloren",
        "bekommen bekam",
        "verstehen verstand verstanden",
        "vergessen vergaß vergisst",
        "anfangen anfing angefangen anzufangen anfängt",
        "umziehen umzog umgezogen umzuziehen",
        "ankommen ankam angekommen",
        "aufhören aufgehört aufzuhören",
    ],
)
def test_forms_of_a_verb_are_one(forms):
    assert len({verb_stem(fold(form).casefold()) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Jonas fängt damit an.", "anfangen"),
        ("Die Vorstellung fing erst um acht an und war lang", "anfangen"),
        ("Ruf mich morgen an!", "anrufen"),
        ("Der Zug kam um Mitternacht an", "ankommen"),
        ("Womit hörte sie auf?", "aufhören"),
        ("Er kam sehr spät zurück, sagte sie.", "zurückkommen"),
    ],
)
def test_a_prefix_at_the_end_of_a_clause_belongs_to_a_verb_of_it(text, verb):
    assert verb_stem(fold(verb)) in separated_verbs(fold(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Was habe ich gegessen?", "Ich aß heute nur eine Suppe."),
        ("Mit wem hat sie gesprochen?", "Sie sprach über die Heizung."),
        ("Womit fängt er an?", "Er hat mit dem Klettern angefangen."),
        ("Womit hörte sie auf?", "Sie hat mit dem Rauchen aufgehört."),
        ("Wohin sind wir geschwommen?", "Wir schwammen zur Insel."),
    ],
)
def test_a_question_in_another_form_finds_the_text(question, text):
    assert set(query_words(question)) & set(words_of(text))
    assert set(query_words(text)) <= set(words_of(text))


def test_a_noun_that_looks_like_a_form_stays_a_noun():
    assert "steig" not in words_of("Ich saß auf der Stiege und wartete.")
    assert "fahr" not in words_of("Das ist eine große Gefahr für uns.")


def test_verbs_that_say_little_are_not_joined():
    """With "ging", "geht" and "gegangen" as one, German questions find less."""
    assert verb_stem("ging") == "ging"


@given(st.lists(st.sampled_from(["er", "fing", "Haus", "an", ".", "und", "nicht", "zurück", "ab"])))
def test_what_a_query_asks_for_is_in_a_text_that_says_the_same(words):
    text = " ".join(words)
    assert set(query_words(text)) <= set(words_of(text))
