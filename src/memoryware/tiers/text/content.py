"""Return whether a text states something: its content words count, and not its length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from memoryware.guard import drop_hidden
from memoryware.tiers.text.terms import STOP_WORDS
from memoryware.tiers.text.tokens import (
    MODALS,
    NEGATIONS,
    PAUSE,
    Sentence,
    is_german,
    tokenize,
    word_set,
)

_BEGINNING: Final = 300
_LIMIT: Final = 4_000
"""Characters in which a text has to state something."""
_ENOUGH: Final = 2.0
"""Content words of a statement: its subject, and what it says of the subject."""
_ENOUGH_WITH_MORE: Final = 1.0
"""The same next to a negation or a person: "Never deploy.", "I am diabetic." """


_CHATTER: Final = word_set("""
ok okay yes yeah yep sure fine good great nice cool awesome perfect excellent wonderful super
amazing lovely glad happy sorry apologies apologize excuse thanks thank welcome hello hi hey dear
bye goodbye morning afternoon evening night day today tomorrow see later soon course certainly
absolutely definitely exactly indeed correct right wrong true false agreed noted understood
understand got gotcha done ready finished completed complete sounds sound look looks looking
looked check checking think thinking believe guess hope wish try trying start starting begin
working wait waiting moment minute second sec please kindly help helps helped helping assist
assistance question questions problem problems worry worries idea ideas thing things stuff way lot
bit kind let lets want wants wanted need needs would go going come coming get getting take taking
give make makes sense say says said ask asking tell find found continue proceed next step move
forward really actually basically simply maybe perhaps probably possible possibly well still even
much many any here else okey whatever however lol haha hmm hm uh um oh ah wow yay oops cheers i me
you we us it its that this these those here there what which who how when where why be am been being
is are was were do did done have had

ja jo nein doch gern gerne klar natürlich sicher genau richtig falsch stimmt gut super toll prima
perfekt wunderbar danke dank vielen schön bitte hallo hi moin tschüss tag morgen abend guten
servus okay fertig erledigt verstanden verstehe alles moment sekunde minute warte warten mal
schaue schau schauen sehe sehen gucke prüfe mache machen mach sag sage hilfe helfen helfe frage
fragen antwort problem sorge sorgen ahnung leid tut entschuldigung dir mir dich mich dein mein
ihnen sie du er es wir uns noch schon auch nur so dann jetzt hier da heute gleich bald weiter los
bin bist war wäre habe hast hatte weiß weiss wissen werde wirst kannst soll willst möchte das dies
dieser diese dieses ein eine einen einem an auf aus bei mit nach um zum zur im am vom für merci
bonjour salut oui non voilà d'accord bien sûr très rien plaisir bonsoir revoir désolé pardon
gracias hola sí vale claro bueno buenas buenos días adiós perdón favor nada grazie ciao sì certo
bene prego scusa obrigado obrigada olá sim tudo bem спасибо привет да нет хорошо пожалуйста
понятно ладно готово
""")
"""Small talk, which is not counted; a text may have it."""
_PARTICLES: Final = word_set(
    "down up off out over under above below before after between mag mögen"
)
"""Words of these lists that short statements need: "db2 is down"."""
_PERSONS: Final = word_set("i we he she they ich wir er")
_RULES: Final = word_set("must shall muss müssen darf dürfen 必 须")
"""Words of a rule: "The VPN must be on." has one content word."""
_IS: Final = word_set("be am is are was were bin ist sind war")
_NOT_COUNTED: Final = (_CHATTER | STOP_WORDS | MODALS | NEGATIONS) - _PARTICLES
_ENGLISH: Final = (
    r"\bas an ai\b(?: language)?(?: model| assistant)?"
    r"|\b(?:you'?re|you are) (?:very )?welcome\b"
)
_CHINESE_OR_JAPANESE: Final = (
    r"ありがとう(?:ございます)?|わかりました|承知しました|了解(?:です|しました)?|お待ちください|こんにちは"
    r"|不客气|不用谢|没问题|没关系|知道了?|明白了?|理解|了解|收到|稍等(?:一下|片刻)?|再见|你好|您好"
    r"|谢谢|好的|抱歉|对不起|当然(?:可以)?|马上|一下|试试|看看|检查|处理|帮[助忙]?|随时|高兴|乐意|继续"
    r"|完成|开始|确认|稍后|尽快|请问|告诉|同意|觉得|认为|希望"
)
_PHRASES: Final = re.compile(f"{_ENGLISH}|{_CHINESE_OR_JAPANESE}", re.IGNORECASE)
_ASCII_PHRASES: Final = re.compile(_ENGLISH, re.IGNORECASE)
"""The same for a text of ASCII: the others would be tried at every character."""
_IDEOGRAPH: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KATAKANA: Final = re.compile("[\u30a0-\u30ff]")
_CHINESE_PERSONS: Final = frozenset("我他她")
_HIRAGANA: Final = re.compile("[\u3040-\u309f]")
_CJK_FUNCTION: Final = frozenset(
    "的了吗呢吧啊呀哦嗯是在和也就都还很太我你您他她它们这那个些来去看说想请会能可要好啦么什怎"
)
_BLANKLESS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_CHARS_OF_WORD: Final = 4
"""Characters of a word in a script without blanks, about."""


def says_something(text: str) -> bool:
    """Return whether a sentence of a text states something.

    Args:
        text: The text; its first 4,000 characters decide.

    Returns:
        False for courtesy, acknowledgements, single words and signs.
    """
    # Nothing hides in printable ASCII, which most texts are.
    is_plain = text.isascii() and text.isprintable()
    plain = (text if is_plain else drop_hidden(text)[0]).strip()
    # Nearly every text states something at its beginning, and a long one takes milliseconds.
    return any(_has_statement(_beginning(plain, chars)) for chars in (_BEGINNING, _LIMIT))


def _beginning(text: str, chars: int) -> str:
    """Return whole words from the beginning of a text; half a word would count as content."""
    if len(text) <= chars:
        return text
    return text[:chars].rsplit(maxsplit=1)[0]


def _has_statement(text: str) -> bool:
    rest = (_ASCII_PHRASES if text.isascii() else _PHRASES).sub(" ", text)
    return any(map(_is_statement, tokenize(rest, is_german=is_german(rest))))


def _is_statement(sentence: Sentence) -> bool:
    words = {token.exact for token in sentence.tokens if token.exact != PAUSE}
    is_negated = not words.isdisjoint(NEGATIONS)
    # "I am diabetic": a fact about a person needs no second content word.
    is_about_person = not words.isdisjoint(_PERSONS) and not words.isdisjoint(_IS)
    is_rule = not words.isdisjoint(_RULES)
    # Chinese needs no verb for it: of 我喜欢茶 "like tea" is left, of 他吃素 "eats vegetarian".
    is_about_person = is_about_person or not words.isdisjoint(_CHINESE_PERSONS)
    enough = _ENOUGH_WITH_MORE if is_negated or is_about_person or is_rule else _ENOUGH
    return _content(words) >= enough


def _content(words: Iterable[str]) -> float:
    """Count content words; a character of Chinese or Japanese counts as a part of one."""
    count = 0.0
    for word in words:
        if word in _NOT_COUNTED:
            continue
        if word.isascii():
            count += word.isalnum() or any(map(str.isalnum, word))
            continue
        if not any(map(_is_letter_or_digit, word)) or word in _CJK_FUNCTION:
            continue
        if _HIRAGANA.fullmatch(word):
            count += 0.15
        elif _IDEOGRAPH.fullmatch(word):
            count += 0.7
        elif _KATAKANA.fullmatch(word):
            count += 0.5
        elif _BLANKLESS.search(word):
            count += max(1.0, len(word) / _CHARS_OF_WORD)
        else:
            count += 1.0
    return count


def _is_letter_or_digit(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"
