"""Recognise lasting statements that match no pattern, such as "Customers pay by card only".

A reviewer sees facts in the place of the messages that state them, so what no rule finds is lost.
These shapes of sentences are wider than the patterns, and what they find is less sure: a
subject of which much is said, a verb in the present tense, and something specific behind it. Moods,
opinions, stories, the work at hand, and talk about other people stay out.
"""

# long: the words of three languages; a part of it says nothing by itself

from __future__ import annotations

import re
from typing import Final

from memoryware.tiers.extraction.own_world import is_of_own_world
from memoryware.tiers.extraction.rule_patterns import CHINESE, GERMAN, LanguagePatterns, is_passing
from memoryware.tiers.text.irregular_forms import ENGLISH_FORMS
from memoryware.tiers.text.nonfactual import (
    CHINESE_RELATIVES,
    ENGLISH_RELATIVES,
    GERMAN_RELATIVES,
    SETTING,
)
from memoryware.tiers.text.utterances import is_lasting_fact, may_quote

PLAIN_CONFIDENCE: Final = 0.6
"""Confidence of such a fact; below `Limits.min_confidence`, so no policy promotes it by itself."""
_MOST_WORDS: Final = 25


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# English.

_PAST: Final = frozenset(form for form in ENGLISH_FORMS if not form.endswith("s"))
_EN_NO_VERB: Final = frozenset(
    """
a about above across actually after again against all almost along already also always am among an and another any are
around as at away back be because been before behind being below besides best better between both but by can cannot could
did do does down during each either else enough even ever every few for from had has have here how if in indeed instead into
is its just last least less like likely long lots many may maybe me mine might more most much must my near nearly never new
news next no none nor not now of off often on once one only onto or other others our ours out over own per perhaps plus quite
rather really same several shall should since so some sometimes soon still such than that the their them then there these
they this those though through thus till to together too toward two under until up upon us very via was we well were what
when where which while who whose why will with within without would yes yet you your

appear appears believe believes bother bothers break breaks bug bugs confuse confuses crash crashes cry cries die dies enjoy
enjoys fail fails feel feels freeze freezes give gives glitch guess guesses hang hangs happen happens hate hates help helps
hope hopes hurt hurts know knows laugh laughs look looks love loves matter matters mean means miss misses needs print
prints return returns rock rocks say says see sees seem seems shine shines show shows smell smells sound sounds suck sucks
suggest suggests taste tastes tell tells think thinks throw throws want wants wish wishes wonder wonders worry worries
agree agrees appreciate bet care chat get gets got keep let try tried understand hear
""".split()  # noqa: SIM905 - a list of words
)
"""Words that are no verb of a lasting statement: others, and verbs of moods and of work at hand."""
_EN_AFTER: Final = (
    r"(?:(?:the|an?|our|my|their|its|all|every|each|any|no|only|both|about|around|roughly|up\ to|at\ least|at\ most|at|by|in|on|to|from|with|for|per|through|via|under|after|before"
    r"|between|as|until|within|over|once|twice|daily|weekly|monthly|two|three|four|five|six|seven|eight|nine|ten|twelve)\ "
    r"(?!(?:time|times|way|course|fun|it|that|this|me|you|him|her|them|us|all|mind|bit|lot|nerves)\b)\S"
    r"|\$?€?\d|(?-i:[A-ZÄÖÜ])|(?:short|long|fresh|new|used|free|small|large|green|organic|local|paper|plastic|cash|cards?)\ )"
)
_EN_OUT: Final = _re(
    rf"""(?:you|your|yours|he|she|it|it's|they|they're|this|that|that's|these|those|there|here|what|who|which|how|why|when|where
    |thanks?|let|let's|one|someone|somebody|nobody|nothing|everything|everybody|everyone|something|anything|so|such|his|her|their
    |its|an?|some|many|most|both|people|things?|days|times|years|kids|men|women|guys|users|friends|well|wow|oh|haha|sometimes
    |yes|always|perhaps|just|still|too|not|no|never|once|after|before|while|until|as|like|with|without|for|from|in|on|at|by)\b
    |(?:\S+\ ){{0,2}}?(?:answers?|weather|code|tests?|errors?|problems?|questions?|results?|outputs?|bugs?|reasons?|ideas?|above|following
    |functions?|lines?|moon|sun|sky|earth|world|capital|pages?|articles?|website|readme|e?mails?|message|build|login|button|screen
    |compiler|script|query|variable|loop|exception|log|logs|table|column|row|cell|file|files|document|text|paragraph|example
    |movie|film|book|song|show|game|story|poem|character|hero|traffic|coffee|food|lunch|dinner|party|concert|joke|birds?
    |stars?|trees?|rain|snow|wind|heart|head|back|life|dream|{ENGLISH_RELATIVES}|recipe|summary|summaries|lists?|chart|json|csv|headline|paper|roads?|dragon|fox|shirt|dress|laptop|phone|battery
    |train|bus|numbers?|version|option|suggestion|paragraph|sentence|cats|dogs|roses|assistant|chatbot|bot|model|prompt|totals?|arguments?|parameters?|elements?|values?|characters|strings?|brackets?|bullets?|compiler|parser|princess|prince|detective|wizard|knight|king|queen|witch|ghost|monster|minister|president|government|politicians?)(?:'s)?\b"""
)
"""Sentences about what nobody can tell apart later, the work at hand, talk, and other people."""
_EN_PRAISE: Final = (
    r"(?!(?:\w+\ ){0,2}?(?:best|worst|same|capital|favou?rite|one|only\ one|first\ time|last\ one|problem|reason|point|answer|question|thing|way|case|man"
    r"|guy|king|queen|devil|mess|nightmare|joke|pain|disaster|bit|shame|pity|blast|dream|fun|idiot|moron|jerk|bully|genius"
    r"|legend|saint|star|hero|villain|bomb|goat|future|rage|mood|way\ to\ go|greatest|nicest|funniest|smartest)\b)"
)
_EN_ROLES: Final = (
    r"(?:leads|manages|owns|runs|handles|maintains|heads|chairs|coordinates|supervises|oversees|approves|signs|represents"
    r"|reports\ to|covers\ for|stands\ in\ for|works\ (?:at|in|on|as|for|from)|is\ (?:responsible|in\ charge|accountable|head|on\ the|based|on\ call)"
    r"|is\ (?:the|our|my)(?:\ (?:new|current|only|old|main|interim|acting))?\ "
    + _EN_PRAISE
    + r"[a-z])"
)
_ENGLISH_SHAPES: Final = (
    # "Bo is the new manager.", "Carl Meyer leads the payments team."
    _re(
        rf"(?-i:[A-ZÄÖÜ][\w.]+)(?:\ (?-i:[A-ZÄÖÜ])[\w.]*)?(?:\ (?:from|in|at)\ (?:the\ )?\w+)?\ {_EN_ROLES}.*\w"
    ),
    # "The kitchen is on the second floor.", "The invoices are checked by Ann."
    _re(
        rf"""(?:the|our|my|all|every|each)\ (?:[\w'&./+-]+\ ){{1,5}}?(?:is|are)\ (?:always\ |never\ |only\ |now\ )?
        (?:(?:the|our|my|an?)\ {_EN_PRAISE}\w|called\ |named\ |part\ of|responsible\ |in\ charge|(?:in|at|on|from|under|behind|next\ to)
        \ (?!fire|time|point|order|trouble|pain|danger|love|hold|top|it\b|that\b|a\ good|a\ bad|a\ hurry)\w
        |(?!(?:bored|tired|confused|broken|failed|stuck|delayed|crashed|messed)\b)\w+(?:ed|pt|nt|ld|ught|wn|en)\ (?:by|in|at|on|to|for|from|with|every|once|twice|only)\ ).*"""
    ),
    # "I am the accountant."
    _re(
        rf"i(?:'m|\ am)\ (?:the|your)(?:\ (?:new|only|main|acting))?\ {_EN_PRAISE}(?:[\w-]+\ ?){{1,3}}$"
    ),
    _re(
        r"we(?:'re|\ are)\ (?:only\ |always\ )?(?:open|closed|certified|insured|licensed|part\ of|members\ of|the|owned|funded|\d)\ ?\w.*"
    ),
    _re(
        r"""i\ (?:also\ |usually\ |always\ )?(?:handle|manage|supervise|bake|coordinate|organi[sz]e|oversee|approve|sign|report|rent|lead|head|design
        |develop|edit|sell|grow|repair|represent|look\ after|take\ care\ of|deal\ with|wake\ up|get\ up|go\ to\ bed|wear)\ (?!it\b|that\b|this\b|you)\w.*"""
    ),
    _re(
        r"we\ (?:must|cannot|can't|may|can)\ (?:only\ |never\ |not\ )+(?!see|find|tell|say|wait|believe|think|do\ (?:it|this|that))\w+\ \S.*"
    ),
)
"""Shapes that need no look at the verb."""
_EN_VERB: Final = (
    # "The API key rotates every 90 days."
    _re(
        rf"(?:the|our|my|all|every|each)\ (?:[\w'&./+-]+\ ){{1,5}}?(?P<verb>\w+s)\ (?:only\ |always\ |never\ )?{_EN_AFTER}.*"
    ),
    # "Our suppliers deliver on Mondays.", "Customers pay by card only."
    _re(
        rf"(?:(?:the|our|my|all)\ )?(?:[\w'&./+-]+\ ){{0,3}}?(?!(?:this|is|was|his|its|has|as|us|yes|plus|always)\b)\w{{2,}}(?<!s)s\ (?:only\ |always\ |never\ )?(?P<verb>\w+(?<!s)(?<!ing)(?<!ly))\ (?:only\ |always\ )?{_EN_AFTER}.*"
    ),
    # "Shipping takes three days."
    _re(rf"\w+(?:ing|ment|tion|age|ance)\ (?P<verb>\w+s)\ (?:only\ |always\ )?{_EN_AFTER}.*"),
    # "We order flour from Miller Brothers."
    _re(
        r"we\ (?!need\b)(?:only\ |always\ |never\ |usually\ |also\ |mostly\ )?(?P<verb>\w+(?<!s)(?<!ing)(?<!ly))\ (?!it\b|that\b|this\b|you|them\b|him\b|her\b|a\ lot|what|how)\w+\ ?\S.*"
    ),
)
"""Shapes whose verb must be one of the present tense."""

# German.

_DE_NO_VERB: Final = (
    r"(?!(?:nicht|mit|seit|sonst|selbst|erst|fast|jetzt|dort|oft|gut|laut|zuerst|meist|bereit|statt|wegen|gegen|neben|zwischen|oben"
    r"|unten|morgen|den|einen|keinen|meinen|unseren|eben|innen|außen|scheint|klingt|nervt|stinkt|hasst|liebt|denkt|meint|sagt"
    r"|hofft|glaubt|stimmt|passt|hilft|fehlt|spinnt|schmeckt|freut|gefällt|zeigt|gibt|wirft|lacht|weint|funktioniert|regnet|scheinen|klingen|nerven"
    r"|stinken|hassen|lieben|denken|meinen|sagen|hoffen|glauben|fehlen|schmecken|freuen|gefallen|zeigen|spinnen|wollen|möchten|könnten|sollten"
    r"|waren|hatten|wurden|kamen|gingen|standen|lagen|sahen|fanden|gaben|nahmen|wissen|sehen|fragen|haben|hat|sind|wart)\b)"
)
_DE_PRESENT: Final = rf"{_DE_NO_VERB}(?-i:[a-zäöü])\w*(?:(?<!t)t|(?<!t)en|ern|eln)"
_DE_OUT: Final = _re(
    rf"""(?:er|sie|es|ihr|du|man|das\ (?-i:[a-z])|dies\w*|jene\w*|hier|da|dort|danke|niemand|jemand|alles|nichts|leute|manche|viele|einige|eine?r?)\b
    |(?:\S+\ ){{0,2}}?(?:Antwort\w*|Wetter|Code|Tests?|Fehler|Problem\w*|Fragen?|Ergebnis\w*|Funktion|Zeile|Seite|Artikel|Mail|Welt|Sonne|Mond|Himmel
    |Hauptstadt|{GERMAN_RELATIVES}|Film|Buch|Lied|Spiel
    |Essen|Kaffee|Party|Vögel|Leben|Kopf|Skript|Datei|Text|Beispiel|Regierung|Verkehr|Zeit|Tage?|Laune|Stimmung|Liste|Zusammenfassung|(?-i:Zahlen)|Held\w*|Drache\w*|Bildschirm|Laptop|Handy|Zug|Bus|Wege|Diagramm|Tabelle|Absatz|Bild|Melodie|Augen|Kapitän|Download|Fenster|Dictionar\w+|Versuch|Prinzessin|Prinz|Detektiv\w*|König\w*|Ritter|Hexe|Gehirn|Listen|Argumente|Parameter|Werte|Summen?|Laden|Warteschlange|Punkt|Compiler|Parser|Titel|Überschrift|Schleife|Eingabe|Ausgabe|Typprüfung|Vorschlag|Variante|Option|Erde|Version)\b"""
)
_DE_PRAISE: Final = r"(?!(?:\w+\ ){0,2}?(?:Beste\w*|beste\w*|Katastrophe|Hammer|Witz|Hölle|Wahnsinn|Quatsch|Idiot\w*|König\w*|Schuld|Wahrheit|Gleiche|Problem|Grund|Letzte|Star|Held\w*|Chaos|Horror|Traum)\b)"
_GERMAN_SHAPES: Final = (
    # "Carl leitet das Zahlungsteam.", "Bo ist die neue Chefin."
    _re(
        rf"""(?-i:[A-ZÄÖÜ]\w+)(?:\ (?-i:[A-ZÄÖÜ])[\w.]*)?\ (?:leitet|führt|verantwortet|betreut|verwaltet|koordiniert|vertritt|organisiert
        |kümmert\ sich|arbeitet\ (?:bei|in|im|als|für)|ist\ (?:zuständig|verantwortlich|für|unsere?|mein\w?|der|die)\ (?:neue\ )?{_DE_PRAISE})\ ?\S+.*"""
    ),
    _re(
        rf"(?:der|die|das|unsere?|mein\w?|alle|jede[rs]?)\ (?:\S+\ ){{1,4}}?(?:ist|sind)\ (?:immer\ |nur\ )?(?:(?:der|die|das|unsere?|mein\w?|eine?)\ {_DE_PRAISE}\S|zuständig|verantwortlich|(?:für|aus|von|vom|im|in|am|bei|beim|auf|hinter|neben|unter)\ (?!Ordnung|Arbeit)\S).*"
    ),
    # "Die Lieferungen kommen um 6 Uhr."
    _re(
        rf"(?:der|die|das|unsere?|mein\w?|alle|jede[rs]?)\ (?:\S+\ ){{0,3}}?(?-i:[A-ZÄÖÜ])\S+\ {_DE_PRESENT}\ (?!wunder\w+|komisch|hässlich|lustig|toll|super|leer|falsch|richtig|kaputt|daneben|langweilig|ewig|zu\b|sehr\b|so\b|ziemlich\b|echt\b|nur\ Nullen|besser|kürzer|länger|mir\b|mich\b|dir\b|dich\b|gut\b|schlecht\b|nicht$|ja\b|doch\b)\S+.*"
    ),
    # "Kunden zahlen nur mit Karte."
    _re(
        rf"(?-i:[A-ZÄÖÜ])\w+(?:n|e|er|s)\ {_DE_NO_VERB}(?-i:[a-zäöü])\w*(?<!t)en\ (?!mir\b|mich\b|dich\b|so\b|ja\b|doch\b)\S+\ \S+.*"
    ),
    # "Um 22 Uhr klingelt der Alarm."
    _re(
        rf"(?:um|ab|am|im|jeden|jede|\w+tags|morgens|mittags|abends|nachts)(?:\ (?-i:[A-ZÄÖÜ\d])\S*){{0,3}}\ {_DE_PRESENT}\ (?:der|die|das|unsere?|wir|alle)\ ?\S.*"
    ),
    _re(
        rf"wir\ (?!.*\b(?:Fehler|Eingabe|Ausgabe|Code|Skript|Text)\b)(?:nur\ |immer\ )?{_DE_NO_VERB}(?!brauchen|gehen|kommen|machen|warten|suchen|können|müssen|werden|dürfen|sollen)\w+(?<!t)(?:en|ern|eln)\ (?!es\b|das\b\ ?$|dir\b|dich\b|uns\b|dann\b|mal\b|jetzt\b|noch\b)\S+.*"
    ),
    _re(rf"ich\ bin\ (?:hier\ )?(?:der|die)\ (?:neue\ )?{_DE_PRAISE}(?-i:[A-ZÄÖÜ])\w+$"),
)

# Chinese.

_ZH_OUT: Final = _re(
    rf"""[你您他她它这那]|大家|有人|别人|人们|今天|谢谢|哈|嗯|太|真|好|我(?:需要|想|要|觉得|在想|希望|打算|知道|刚)|帮|请(?!勿)
    |.{{0,4}}(?:{CHINESE_RELATIVES}|天气|答案|代码|测试|错误|结果|问题|网页|文章|页面|邮件|地球|世界|太阳|月亮|地铁|公交|火车|列表|屏幕|英雄|首都|电影)
    |.*(?:累|开心|高兴|难过|好烦|真|太.+了|漂亮|不错|很好|无聊|好吃|[了啊呢吧吗哈呀嘛])$|.*(?:报错|出错|失败|没有用)"""
)
_CHINESE_SHAPES: Final = (
    _re(
        r""".*(?:只能|只(?:接受|收|支持|用|卖)|必须|不接受|不收|不得|一律|每(?:天|周|个?月|年|晚|早|隔|\s*\d+)|负责|领导|主管|属于|位于).+
        |.{1,12}(?:从|向|由).{2,}(?:采购|订购|订货|进货|购买|供应|提供|供货|管理|批准|审核).*
        |[^我]{2,12}需要.{2,}
        |.{2,12}(?:早上|上午|中午|下午|晚上|凌晨|夜里)[^，]{1,5}[点时:：]\S+
        |.{1,10}是(?:我们的?|公司的?|团队的?|店里的?|新的?|现任)(?!问题|想法|意思|一天)\S{2,}
        |(?:我们的?|公司|团队|顾客|客户|员工|店里)\S{0,8}(?:更喜欢|偏好|偏爱|使用|采用|需要|通过|支付|付款)\S{2,}"""
    ),
)


def is_plain_statement(statement: str, message: str, patterns: LanguagePatterns) -> bool:
    """Return whether a clause is a lasting statement, though it matches no pattern of facts.

    Args:
        statement: The clause, without greetings and connectives.
        message: The whole message; what may be quoted or made up in it makes all of it doubtful.
        patterns: Those of the language of the clause.

    Returns:
        Whether it is.
    """
    if may_quote(message) or SETTING.search(message) or not is_lasting_fact(statement):
        return False
    if len(statement.split()) > _MOST_WORDS or is_passing(statement, patterns):
        return False
    language = "zh" if patterns is CHINESE else "de" if patterns is GERMAN else "en"
    if is_of_own_world(statement, language):
        return True
    if patterns is CHINESE:
        return not _ZH_OUT.match(statement) and _has_shape(statement, _CHINESE_SHAPES)
    if patterns is GERMAN:
        return not _DE_OUT.match(statement) and _has_shape(statement, _GERMAN_SHAPES)
    if _EN_OUT.match(statement):
        return False
    return _has_shape(statement, _ENGLISH_SHAPES) or _has_present_verb(statement)


def _has_shape(statement: str, shapes: tuple[re.Pattern[str], ...]) -> bool:
    return any(shape.match(statement) for shape in shapes)


def _has_present_verb(statement: str) -> bool:
    matches = (shape.match(statement) for shape in _EN_VERB)
    return any(match is not None and _is_present(match["verb"]) for match in matches)


def _is_present(word: str) -> bool:
    verb = word.lower()
    return not (verb in _EN_NO_VERB or verb in _PAST or verb.endswith("ed"))
