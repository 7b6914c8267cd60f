"""Number words as digits, so that "three weeks" finds "3 weeks", in eight languages.

"One" is left out: it is an article or a pronoun in all of them.
"""

from __future__ import annotations

import re
from typing import Final

from memoryware._caching import clearable_cache
from memoryware._unicode import fold

_TWO_TO_NINETEEN: Final = {
    "en": """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """,
    "de": """
    zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn
    siebzehn achtzehn neunzehn
    """,
    "es": """
    dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis
    diecisiete dieciocho diecinueve
    """,
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
}
_TENS: Final = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    "fr": "vingt trente quarante cinquante soixante",
}
_UNITS: Final = {
    "en": "one two three four five six seven eight nine",
    "de": "ein zwei drei vier fünf sechs sieben acht neun",
}
_COMPOUNDS: Final = {"en": "{ten}{unit}", "de": "{unit}und{ten}"}
"""Numbers such as "twenty-five", without their hyphen."""
_OTHER: Final = """
21 veintiuno veintiuna veintiún|22 veintidós|23 veintitrés|24 veinticuatro|25 veinticinco
26 veintiséis|27 veintisiete|28 veintiocho|29 veintinueve
"""
_NOT_EVERYWHERE: Final = "elf dos tres siete once doce diez quince sept neuf dix quinze seize"
_AMBIGUOUS: Final = frozenset(_NOT_EVERYWHERE.split())
"""Words of other languages and names: a number only in a text that is in their language."""
_RUSSIAN: Final = """
2 два две двух двум двумя|3 три трёх трём тремя|4 четыре четырёх четырём четырьмя
5 пять пяти пятью|6 шесть шести шестью|7 семь семи семью|8 восемь восьми восемью
9 девять девяти девятью|10 десять десяти десятью|11 одиннадцать одиннадцати
12 двенадцать двенадцати|13 тринадцать тринадцати|14 четырнадцать четырнадцати
15 пятнадцать пятнадцати|16 шестнадцать шестнадцати|17 семнадцать семнадцати
18 восемнадцать восемнадцати|19 девятнадцать девятнадцати|20 двадцать двадцати
30 тридцать тридцати|40 сорок сорока|50 пятьдесят пятидесяти|60 шестьдесят шестидесяти
70 семьдесят семидесяти|80 восемьдесят восьмидесяти|90 девяносто
"""
_ARABIC: Final = """
2 اثنان اثنين اثنا اثني اثنتان اثنتين|3 ثلاث ثلاثة|4 أربع أربعة|5 خمس خمسة|6 ست ستة|7 سبع سبعة
8 ثمان ثماني ثمانية|9 تسع تسعة|10 عشر عشرة|20 عشرون عشرين|30 ثلاثون ثلاثين|40 أربعون أربعين
50 خمسون خمسين|60 ستون ستين|70 سبعون سبعين|80 ثمانون ثمانين|90 تسعون تسعين
"""


def _numbers(language: str) -> dict[str, str]:
    """Return the digits of the number words of a language in Latin letters."""
    tens = [*enumerate(_TENS[language].split(), 2)]
    digits = {
        **{word: str(number) for number, word in enumerate(_TWO_TO_NINETEEN[language].split(), 2)},
        **{word: str(10 * ten) for ten, word in tens},
    }
    units = [*enumerate(_UNITS.get(language, "").split(), 1)]
    for ten, tens_word in tens:
        for number, unit in units:
            word = _COMPOUNDS[language].format(ten=tens_word, unit=unit)
            digits[word] = str(10 * ten + number)
    return {_folded(word): number for word, number in digits.items()}


def _table(lines: str) -> dict[str, str]:
    """Return the digits of the words that stand behind them."""
    rows = [line.split() for line in re.split(r"[|\n]", lines.strip())]
    return {_folded(word): digits for digits, *words in rows for word in words}


def _folded(word: str) -> str:
    return fold(word).casefold()


_BY_LANGUAGE: Final = {language: _numbers(language) for language in _TENS}
NUMBERS: Final = _table(_OTHER) | {
    word: digits
    for numbers in _BY_LANGUAGE.values()
    for word, digits in numbers.items()
    if word not in _AMBIGUOUS
}
"""Digits of English, German, Spanish and French words in any text, folded, without hyphens."""
NUMBERS_BY_LANGUAGE: Final = {
    language: numbers for language, numbers in _BY_LANGUAGE.items() if language != "en"
}
"""Digits of folded words in a text of that language."""
NUMBERS_BY_SCRIPT: Final = _table(_RUSSIAN) | _table(_ARABIC)
"""Digits of folded words in Cyrillic and Arabic letters."""

_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
HAN_NUMERALS: Final = frozenset({*_HAN_DIGITS, "十", "百"} - {"一"})
"""Characters of which a number has one."""
_COUNTERS: Final = (
    "个個人位名口只隻匹頭头条條张張枚把件支枝根本册冊台臺辆輛架艘间間家所座栋棟棵株朵颗顆粒滴片块塊双雙对對套份种種类類项項"
    "杯瓶碗盘盤皿包盒箱袋桶罐"
    "年月日天周週时時点點分秒岁歲歳代号號次回遍度趟番倍"
    "页頁行句字章节節课課首篇题題层層楼樓阶階级級班排列"
    "元円圆圓欧歐美斤克公千万萬亿億米里升キグメセリパユド"
    "羽足着軒泊畳膳巻通話箇ヶヵケカつ"
)
"""Words of measure that stand behind a number in Chinese and Japanese."""
_HAN_NUMBER: Final = re.compile(
    "[〇零两兩一二三四五六七八九十百](?<![周週期拜曜〇零两兩一二三四五六七八九十百].)"
    rf"(?!(?<=十)分(?![钟鐘間]))[〇零两兩一二三四五六七八九十百]*(?=[{_COUNTERS}])"
)
"""A number with a word of measure, which names ("五島", "三明治") and weekdays ("周三") have not.

十分 without a word for minutes is "very". It begins with what is rare, to be fast.
"""
_YEAR: Final = 4
"""Digits of a year, which are read one by one."""


def han_numbers(folded: str) -> list[str]:
    """Return the digits of numbers in Chinese characters, such as "35" for "三十五岁".

    Args:
        folded: A text with some of `HAN_NUMERALS`, folded.

    Returns:
        The digits, in order; 一 on its own is no number.
    """
    return [digits for number in _HAN_NUMBER.findall(folded) if (digits := _digits_of(number))]


@clearable_cache(4096)
def _digits_of(number: str) -> str | None:
    if _HAN_UNITS.keys().isdisjoint(number) and (len(number) not in (1, _YEAR) or number == "一"):
        return None
    return han_value(number)


def han_value(number: str) -> str:
    """Return the digits of a number in Chinese characters, such as "35" for "三十五".

    Args:
        number: Characters from 〇 to 九, 零, 两, 兩, 十, 百 and 千.

    Returns:
        The digits.
    """
    if _HAN_UNITS.keys().isdisjoint(number):
        return "".join(str(_HAN_DIGITS[sign]) for sign in number)
    total = digit = 0
    for sign in number:
        if sign in _HAN_UNITS:
            total += (digit or 1) * _HAN_UNITS[sign]
            digit = 0
        else:
            digit = _HAN_DIGITS[sign]
    return str(total + digit)
