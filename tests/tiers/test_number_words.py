"""A number is found whether it is written in digits or as a word."""

from __future__ import annotations

import pytest

from memoryware.tiers.text.terms import query_words, words_of


def numbers_of(terms):
    return [term for term in terms if term.isascii() and term.isdigit()]


@pytest.mark.parametrize(
    ("digits", "text"),
    [
        ("3", "We keep three goats."),
        ("12", "The lease runs for twelve months."),
        ("90", "There are ninety rows."),
        ("75", "She is seventy-five."),
        ("3", "Er hält drei Ziegen."),
        ("11", "Mein Spind hat die Nummer elf."),
        ("75", "Sie ist fünfundsiebzig geworden."),
        ("30", "Es sind dreißig Minuten."),
        ("2", "Hay dos llaves en el cajón."),
        ("10", "Mi hermano tiene diez gatos."),
        ("16", "Mi hermana tiene dieciséis años."),
        ("3", "Mon frère élève trois chèvres."),
        ("10", "Il nous faut dix chaises."),
        ("3", "我哥哥养了三只山羊。"),
        ("2", "抽屉里有两把钥匙。"),
        ("75", "阿姨六月满七十五岁了。"),
        ("150", "一共一百五十元。"),
        ("2024", "二〇二四年搬家。"),
        ("10", "走十分钟。"),
        ("3", "山羊を三匹飼っている。"),
        ("20", "二十歳です。"),
        ("3", "Мой брат держит трёх коз."),
        ("40", "Я заплатил сорок евро."),
        ("3", "أخي يربي ثلاث عنزات."),
        ("8", "الكوخ يتسع لثمانية أشخاص."),
        ("40", "دفعت أربعين يورو."),
    ],
)
def test_a_number_word_is_found_by_its_digits_and_the_other_way_round(digits, text):
    assert digits in words_of(text)
    assert digits in query_words(text)
    assert set(query_words(text)) <= set(words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "One of us saw it once, on a quiet day.",
        "Ein Hund, eine Katze und einer von uns.",
        "Une amie et un ami.",
        "Un gato y una gata.",
        "一只猫",
        "一个人",
        "ひとりの猫",
        "五島へ行く",
        "三明治很好吃",
        "周三开会",
        "星期三見",
        "十分好吃",
        "один кот",
        "An elf wore a dos sweater in the Dix house.",
        "très bien",
    ],
)
def test_articles_and_parts_of_other_words_are_no_numbers(text):
    assert numbers_of(words_of(text)) == []
    assert numbers_of(query_words(text)) == []


def test_a_number_word_is_found_in_another_language():
    for question in (
        "Who has three goats?",
        "Wer hat drei Ziegen?",
        "谁有三只羊？",
        "У кого три козы?",
    ):
        assert "3" in query_words(question)
