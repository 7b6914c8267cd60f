"""Patterns of the rule-based extractor, by language; data only.

Each pattern is matched at the beginning of a clause whose greeting or connective was removed. A
pattern that could also match requests, moods or opinions of others names its exceptions, because
a wrong fact costs a reviewer more than a missing one.
"""

# long: the words of three languages; a part of it says nothing by itself

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memoryware.tiers.extraction.facts import FactKind
from memoryware.tiers.text import nonfactual


@dataclass(frozen=True, slots=True)
class FactPattern:
    """A pattern of clauses that state a fact.

    Attributes:
        kind: The kind of the fact.
        confidence: How sure such a fact is.
        pattern: What the clause must match, from its beginning.
        needs_value: Whether the clause must have a name, a number, a day or a time as well.
    """

    kind: FactKind
    confidence: float
    pattern: re.Pattern[str]
    needs_value: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagePatterns:
    """The patterns of one language.

    Attributes:
        lead: Words before a statement that are no part of it.
        remember: The same where they ask to remember it; the statement follows.
        tail: Words after a statement that are no part of it.
        scope: Words before a preference that limit it: "On long flights, I prefer ...".
        split: Where a sentence is cut into clauses.
        question: The beginning of a clause that asks.
        unsure: A word that makes a clause hypothetical or doubtful.
        reported: Words by which others are quoted.
        opening: A clause after which others speak, or all is a condition or an example.
        people: Nouns for people and pets, of whom much can be said at once.
        passing: Words of a state that passes.
        correction: The beginning of a clause that corrects the one before; group 1 is its value.
        facts: Patterns of statements, in order.
        subjects: Patterns of clauses with a subject that has one current value, with its name.
    """

    lead: re.Pattern[str]
    remember: re.Pattern[str]
    tail: re.Pattern[str]
    scope: re.Pattern[str]
    split: re.Pattern[str]
    question: re.Pattern[str]
    unsure: re.Pattern[str]
    reported: re.Pattern[str]
    opening: re.Pattern[str]
    people: re.Pattern[str]
    passing: re.Pattern[str]
    correction: re.Pattern[str]
    facts: Sequence[FactPattern]
    subjects: Sequence[tuple[re.Pattern[str], str]]


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


INJECTION: Final = _re(
    r"""(?:ignore|disregard|forget|override)\ (?:all\ |any\ |the\ |your\ |everything\ )*(?:previous|prior|above
    |earlier|system)|system\ ?prompt|developer\ mode|jailbreak|you\ are\ now\b|new\ instructions?:
    |(?:to|für\ den|an\ den)\ (?:the\ )?(?:assistant|assistenten|ai|llm)\b|ignorier\w*\ (?:alle|die|deine)
    |vergiss\ (?:alle|deine)\ (?:vorherigen|bisherigen|anweisungen)|忽略(?:之前|以上|所有)|系统提示|无视(?:之前|以上)
    |<\|?\w+\|?>|\[/?(?:inst|system)\]"""
)
"""Words of a prompt injection: nobody says them of themselves."""
LASTING_PASSING: Final = _re(
    r"(?:ich|wir)\ (?:lernen?|studieren?|bauen?|renovieren?|planen?|mache\ (?:\w+\ ){0,2}(?:Ausbildung|Weiterbildung|Diät|Therapie))\ gerade\b|.*\bgerade\b.*\b(?:geworden|umgezogen|eingezogen|gegründet|geboren)$"
)
"""Statements with a word for the moment that hold for months: "Ich lerne gerade Portugiesisch"."""


def is_passing(statement: str, patterns: LanguagePatterns) -> bool:
    """Return whether a statement is true of a moment only.

    Args:
        statement: The statement.
        patterns: Those of its language.

    Returns:
        Whether it is.
    """
    is_lasting = LASTING_PASSING.match(statement) is not None
    return not is_lasting and patterns.passing.search(statement) is not None


DAYS: Final = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams)tags?|mittwochs?"
    r"|sonntags?|sonnabends?|(?:星期|周|礼拜)[一二三四五六日天]"
)
MONTH: Final = (
    r"jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|jun[ei]?|jul[yi]?"
    r"|aug(?:ust)?|sep(?:t|tember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)
DATE: Final = _re(
    rf"""\b(?:{DAYS})\b|(?:星期|周|礼拜)[一二三四五六日天]|\b(?:{MONTH})\.?\ +\d|\d\.?\ *(?:{MONTH})\b
    |\b(?:in|im|by|until|since|bis|seit)\ (?:{MONTH})\b
    |\bon\ the\ \d{{1,2}}(?:st|nd|rd|th)\b|\bam\ \d{{1,2}}\.
    |\d{{1,4}}[-/.]\d{{1,2}}(?:[-/.]\d{{0,4}})?|\d{{1,2}}\s*月|\d{{1,2}}\s*[日号]
    |\b(?:tomorrow|tonight|next\ (?:week|month|year|summer|winter|spring)|this\ (?:weekend|summer)
    |morgen|übermorgen|nächste\w*\ (?:woche|monat|jahr\w*)|kommende\w*)\b
    |明天|后天|下个?(?:周|星期|月|年)|明年|今年|月底|年底|(?:上|下)半年"""
)
"""A day, a month with a number, or a time to come."""
VALUE: Final = _re(
    rf"""\d|[\w.+-]+@[\w-]+\.\w|\b\w+[-._]\w+\.?\w*|(?:{DAYS})|\b(?:{MONTH})\b|\b(?:daily|weekly|monthly
    |quarterly|yearly|hourly|noon|midnight|täglich|wöchentlich|monatlich|jährlich|mittags|abends)\b
    |[\u4e00-\u9fff].*[A-Za-z]{{2,}}|[一二两三四五六七八九十]+[点号月日]"""
)
NAME: Final = re.compile(r"(?<=[\w,] )[A-ZÄÖÜ][\w&.-]*|\b[A-Z]{2,}\b|\b\w+[a-z][A-Z]\w*")
"""A word with a capital letter inside a clause; a sign of a name in English."""

# English.

_ADV = (
    r"(?:\ (?:really|also|just|actually|always|usually|mostly|currently|still|already|only|generally"
    r"|strictly|now|do|honestly|personally|truly|definitely|mainly|often|both|all|never|absolutely"
    r"|much|too|recently|finally|previously|so\ far|as\ well))*"
)
_IT = (
    r"(?!(?:it|that|this|these|those|them|him|her|how|your|yours|you|the\ (?:idea|way|look|sound|answer"
    r"|second|first|last|other|result|one)|where|what|when|why|if|to\ (?:know|see|ask|thank|hear"
    r"|think|say|be\ able)|one|both|neither|either|all\ of)\b)"
)
_NO_THING = (
    r"(?!\ ?(?:\w+\ ){0,3}(?:questions?|problems?|ideas?|look|meetings?|headache|cold|feeling|moment|bugs?"
    r"|errors?|issues?|doubts?|favou?r|requests?|few|bit|lot|lots|couple|hunch|hard\ time|deadline"
    r"|thoughts?|clue|outage|incident|task|suggestion|concern|concerns|point|plan|chance|time|minutes?"
    r"|good\ (?:day|time|one)|guess|files?|folders?|scripts?|tables?|lists?|strings?|functions?|choice|trouble|preference"
    r"|datasets?|dataframes?|arrays?|class|columns?|documents?|images?|photos?|videos?|text|paragraphs?|sentences?|essay|draft|query"
    r"|queries|containers?|variables?|models?|pdfs?|csv|json|spreadsheets?|snippets?|repos?)\b)"
)
_EN_NP = (
    r"(?!(?:\w+\ ){0,3}(?:question|problem|issue|guess|point|bad|mistake|idea|concern|answer|next|apolog\w+"
    r"|understanding|goal|task|request|hope|thought|suggestion|code|script|program|function|query|loop|command|screen|terminal|console|browser|conversation|chat|last\ (?:message|question|one)"
    r"|favou?rite|preferred|turn|pleasure|prompt|input|output|result|error|weather)s?\b)"
    r"(?:[\w'&./+-]+\ ){1,6}?"
)
_MOOD = (
    r"(?!(?:\ (?:not|so|very|really|too|also|just|still|all|always|currently|quite|a\ bit|kind\ of|now))*"
    r"\ (?:broken|failing|wrong|down|late|sick|slow|hungry|happy|sad|tired|angry|mad|weird|crazy"
    r"|annoy\w+|working|gone|nervous|cold|hot|great|good|nice|fine|ok|okay|bad|terrible|awesome"
    r"|killing|driving|making|being|getting|acting|done|dead|messy|mess|empty|full|correct|right|true"
    r"|an?\ (?:\w+\ )?(?:idiot|jerk|moron|genius|legend|pain|nightmare|saint|joke|bully|hero)|unclear|clear|easy|hard|difficult|important|interesting|simple|same|a\ mess|confus\w+|stuck)\b)"
)
_ROLE = (
    r"(?:ceo|cto|cfo|coo|founder|co-?founder|owner|lead|head|manager|maintainer|admin\w*|director|author"
    r"|principal|chair|president|treasurer|captain|coach|editor|teacher|landlord|(?:\w+\ ){1,3}"
    r"(?:lead|manager|owner|engineer|officer|director|admin\w*))"
)
_ALLOWED_STATE = rf"""(?:an?\ (?!bit\b|little\b|moment\b|idiot|minute|few\b|couple\b|step\b|mess\b|genius|big\ fan
    |huge\ fan|fan\b|bot\b|robot|king|queen|wizard|god\b|ghost|alien|terrible|horrible|hurry|loss|lot\b)
    |from\ |based\ |located\ |living\ |employed|self-employed|born\ |allergic|intolerant|diabetic
    |working\ (?:at|as|for|in|remotely|part|full|nights?)|studying|married|single\b|divorced|widowed
    |engaged\b|retired|unemployed|pregnant|left-handed|right-handed|colou?r-?\ ?blind|deaf\b|blind\b
    |dyslexic|autistic|bilingual|celiac|coeliac|asthmatic|jewish|muslim|christian|hindu|buddhist|atheist
    |\d+\ years\ old|\d{{1,2}}(?=$|\ and\b|,)|called\ |named\ |responsible\ for|in\ charge\ of|learning\ |training\ for|saving\ (?:up\ )?for|renovating|writing\ (?:an?|my)\ (?:novel|book|thesis|dissertation)|preparing\ for\ (?:my|the|an?)\ \w+|looking\ for\ (?:an?\ )?(?:\w+\ )?(?:job|flat|house|work|apartment|room)|doing\ (?:an?|my)\ (?:phd|masters?|degree|apprenticeship)|(?:deputy|vice|assistant|senior|junior|head|chair\w*|treasurer|secretary|captain|director)\b|\d+\ ?(?:cm|kg|m|feet|pounds)\b
    |(?:lactose|gluten|dairy)[\ -]intolerant|on\ (?:an?\ )?(?:mac|macos|windows|linux|ubuntu|android|ios|iphone)\b|at\ (?-i:[A-Z])|with\ (?-i:[A-Z])\w+\ now|on\ (?:the\ \w+\ team|parental|sabbatical|night\ shift)
    |not\ (?:an?\ |from|allergic|religious|married|based)|no\ longer|the\ {_ROLE}\b
    |raising\ |expecting\ (?:a|twins|our)|using\ (?-i:[A-Z])|running\ (?-i:[A-Z])\w+\ (?:on|as))"""
_SHORT_ANSWER = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|messages|summaries|code\ (?:samples?|examples?|snippets?"
    r"|comments?)|comments|commit\ messages|emails?|reports?|docstrings?|examples)"
)

ENGLISH: Final = LanguagePatterns(
    lead=_re(
        r"""(?:(?:hey|hi|hello|well|so|and|but|also|ok|okay|oh|ah|yes|yeah|yep|sure|right|thanks|thank\ you
        |great|cool|nice|hmm?|ugh|btw|by\ the\ way|fyi|for\ the\ record|for\ context|for\ reference
        |just\ so\ you\ know|as\ (?:i\ (?:said|mentioned)|you\ know)|i\ see|got\ it|perfect|true|ha
        |to\ be\ clear|in\ fact|then|because|since|good\ morning|good\ evening|anyway|plus|weird|wow
        |sorry|no\ problem|no\ worries|however|though|also\ note\ that|note\ that|the\ thing\ is(?:\ that)?
        |a\ bit\ about\ me|about\ me|context|background|you\ should\ know(?:\ that)?|which\ means
        |no|nope|actually|i\ (?:should|must)\ (?:add|mention|say)(?:\ that)?|i\ told\ you(?:\ that)?)
        (?:[,:;.!]+\s*|\s+-+\s*|\s+(?=i\b|i'|my\b|we\b|we'|our\b|the\b|please|always|never|it\b|it'|from\b)))+"""
    ),
    remember=_re(
        r"""(?:please\s+|and\s+|can\ you\ |could\ you\ )*(?:(?:remember|note|keep\ in\ mind|bear\ in\ mind|don't\ forget|do\ not\ forget
        |make\ a\ note|save|store|memori[sz]e|write\ down|take\ note|for\ future\ reference)[,:]?
        (?!\s+(?:to|me|when|the\ time|how|what|this|it)\b)\s*(?:that\s+|the\ fact\ that\s+)?)"""
    ),
    tail=_re(
        r"""(?:[,\s]+(?:by\ the\ way|btw|please|thanks|thank\ you|remember\ (?:that|this|it)|okay|ok|fyi|though
        |actually|too|as\ well|you\ know|just\ so\ you\ know|i\ think\ you\ should\ know|don't\ forget))+$"""
    ),
    scope=_re(
        rf"""(?:for|on|in|at|during|with|when(?:ever)?|while|as\ for|when\ it\ comes\ to|regarding|after|before)\ (?!example\b|instance\b|now\b|sure\b
        |me\b|you\b|this\b|that\b|these\b|it\b|case\b|fact\b|general\b|short\b|what\b|the\ (?:texts?|paragraph|files?|code|example|next|last|second|first|title)\b)
        [^,.?!]{{2,50}}?,?\ (?=(?:i|we)(?:'d)?(?:\ would)?{_ADV}\ (?:prefer|rather|like|love|hate|use)\b|(?:please\ )?(?:always|never)\ (?!been\b|was\b|had\b)\w)"""
    ),
    split=_re(
        r"""\s*,?\s+(?:and|but|so|because|since|though)\s+(?=(?:i|we|my|our|i'm|i've|we're|we've|please|never|always)\b)
        |,\s+(?:and|but|so)\s+(?=\S)|,\s+(?=(?:i|we|my|our|i'm|i've|we're|we've|it|it's|that|that's|which|please|can|could|would|what|how|where
        |when|which|who|is|are|do|does|should|will|any)\b)|\s+-{1,2}\s+|\s+[\u2013\u2014]\s+|:\s+(?=(?:i|my|we|our)\b)
        |\ so\ (?=(?:he|she|they|it|please|can|could|what|how)\b)|\s+and\s+(?=(?:also|please)\b)"""
    ),
    question=_re(
        r"""(?:what|how|where|when|which|who|whose|why|is|are|am|was|were|do|does|did|can|could|would|should
        |will|shall|may|have\ (?:i|you|we)|has|any\ (?:idea|tips|chance)|isn't|aren't|don't\ (?:i|you|we))\b"""
    ),
    unsure=nonfactual.ENGLISH_UNSURE,
    reported=nonfactual.ENGLISH_REPORTED,
    opening=nonfactual.ENGLISH_OPENING,
    people=_re(rf"\b(?:{nonfactual.ENGLISH_PEOPLE})\b"),
    passing=nonfactual.ENGLISH_PASSING,
    correction=_re(
        r"""(?:(?:no|nope|wait|hold\ on|hang\ on|actually|sorry|correction|scratch\ that|my\ mistake|my\ bad|oops|not\ anymore
        |update|well|i\ was\ wrong|that's\ (?:wrong|outdated|old))(?:[,:;.!]+\s*|\s+-+\s*|\s+))+
        (?:(?:it|that|this|they|he|she)(?:'s|'re|\ is|\ are|\ was)\s+(?:now\s+|actually\s+)?|(?:i|we)\ meant\s+(?:to\ say\s+)?
        |make\ (?:it|that)\s+|(?:it|they|we)(?:'ve|\ have|'s|\ has)?\s+(?:been\ )?(?:moved|changed|switched|shifted|rescheduled)
        (?:\ it)?\s+to\s+|now\s+(?:it's\s+|on\s+)?)(?!not\b|fine|ok|okay|wrong|right|great|good|broken|nothing|just)(.+)"""
    ),
    facts=(
        FactPattern(
            "decision",
            0.85,
            _re(
                rf"""(?:we|i)(?:'ve|\ have)?{_ADV}\ (?:decided|agreed\ (?:to|on|that|with)|chosen|chose|settled\ on|opted|picked
                |committed\ to|standardi[sz]ed\ on|went\ with|ended\ up\ (?:with|using)|stuck\ with|signed\ with|voted\ (?:to|for))\ \S+
                |we(?:'re|\ are){_ADV}\ (?:going\ with|switching\ |migrating\ |dropping\ |sticking\ with|sunsetting\ |moving\ (?:\w+\ ){{0,3}}to\ )
                |i'm\ (?:going\ with|sticking\ with)\ {_IT}
                |we(?:'ll|\ will){_ADV}\ (?:use|go\ with|switch|migrate|move|drop|keep|ship|launch|adopt|stop|start|no\ longer|release)\ {_IT}
                |(?:the\ )?(?:decision|plan)\ is\ (?:made\ )?(?:to|that)\b
                |(?:we|i)(?:'ve|\ have)?{_ADV}\ (?:postponed|cancell?ed|rejected|declined|abandoned|dropped|approved|adopted|introduced|replaced|retired|deprecated|hired|appointed|rescheduled)\ {_IT}\S+
                |we(?:{_ADV}\ (?:won't|will\ not)|(?:'re|\ are)(?:n't|\ not|\ no\ longer){_ADV}\ going\ to)\ (?!see|know|need|be\ able|get|find|make\ it|have\ time)\w+\ {_IT}\S+
                |it\ (?:was|has\ been)\ (?:decided|agreed)\ (?:that|to)\ \S+|let's\ (?:go\ with|stick\ with|settle\ on|standardi[sz]e\ on)\ {_IT}\S+"""
            ),
        ),
        FactPattern(
            "instruction",
            0.85,
            _re(
                rf"""(?!.*\b(?:in|of|for)\ this\b)(?:please\ )?(?:always|never)\ (?!mind\b|good|nice|happy|a\ |been|is\b|was\b|said|heard|knew|thought|the\b|again|tried|had\b|seen|liked)\w+\ \S+
                |(?:please\ )?(?:from\ now\ on|going\ forward|in\ (?:the\ )?future|by\ default|for\ all\ future\ \w+),?\ (?:please\ )?(?!i\b|my\b|we\b|our\b)\w+\ \S+
                |(?:whenever|every\ time|each\ time|when)\ you\ \w+.*,\ \w+
                |(?:please\ |just\ )*(?!i\b|my\b|we\b|our\b|the\b|it\b)\w+\ .*\b(?:from\ now\ on|going\ forward|in\ (?:the\ )?future|by\ default|every\ time|each\ time|at\ all\ times)$
                |(?:please\ )?(?:keep|make|format)\ (?:(?:your|the|all|my|any)\ ){{0,2}}{_SHORT_ANSWER}\ .+
                |(?:please\ )?(?:use|write|give(?:\ me)?|prefer)\ (?:\w+,?\ )?(?:and\ )?(?:short|brief|concise|long|detailed|simple|plain|formal|informal|polite|precise)(?:er)?\ (?:answers|replies|responses|explanations|summaries|sentences|messages|e?mails|comments)
                |(?:please\ )?(?:answer|reply|respond|talk|speak)\ (?:to\ me\ )?(?:only\ |always\ )?(?:in|with)\ (?!detail|a\ moment|one)\w+
                |(?:please\ )?(?:call|address)\ me\ (?!back|when|if|tomorrow|later|at\b|a\b|an\b|crazy|now|on\b|soon|when)\w+
                |(?:please\ )?use\ (?:\S+\ )*(?:units|times?|time\ format|date\ format|spelling|tone|indentation|notation|currency|bullet\ points)\b(?!.*\b(?:here|this|in\ the\ (?:table|file|test))\b)
                |(?:please\ )?(?:don't|do\ not|stop)\ (?:ever\ )?(?:us(?:e|ing)|add(?:ing)?|call(?:ing)?|send(?:ing)?|suggest\w*|recommend\w*|includ\w+|mention\w*|apologi\w*|push\w*|commit\w*|repeat\w*)\ (?!it\b|this\b|that\b|them\b)\S+(?!.*\b(?:here|this\ (?:one|time)|now|yet|today|in\ this)\b)
                |i\ want\ you\ to\ (?:always|never)\b.+|you\ (?:should|must|can)\ (?:always|never)\b.+"""
            ),
        ),
        FactPattern(
            "event",
            0.8,
            _re(
                r"""(?:i(?:'m|\ am|'ll|\ will|\ have)?|we(?:'re|\ are|'ll|\ will|\ have)?|(?:my|our)\ (?:[\w'-]+\ ){1,4}?)\ ?
                (?:also\ |then\ |just\ )?(?:fly(?:ing)?|flies|travel(?:l?ing|s)?|mov(?:e|es|ing)|leav(?:e|es|ing)|visit(?:ing|s)?|start(?:s|ing)?|arriv(?:e|es|ing)
                |marry(?:ing)?|getting\ married|graduat\w+|launch(?:es|ing)?|meet(?:ing)?|going\ to|(?:sitting|taking|having|getting|hosting|giving|presenting|defending|retiring|running)\ (?!an?\ (?:error|problem|issue|question)|trouble|errors|problems)|attend(?:ing)?|speak(?:ing)?\ at|be\ (?:in|at|on)\b
                |an?\ (?:\S+\ ){0,3}(?:appointment|meeting|call|exam|surgery|interview|wedding|flight|trip|concert|conference|vacation|holiday|marathon|race)
                |is\ (?:on|in|at)|takes\ place|turns\ \d+|is\ getting\ married|ends|begins|opens|departs)\b.*"""
            ),
            needs_value=True,
        ),
        FactPattern(
            "preference",
            0.85,
            _re(
                rf"""i{_ADV}\ (?:prefer|like|love|enjoy|hate|dislike|adore|despise|can't\ stand|cannot\ stand|detest
                |don't{_ADV}\ (?:like|enjoy|eat|drink|care\ for)|do\ not{_ADV}\ (?:like|enjoy|eat|drink)|never\ (?:eat|drink|watch|wear)
                |(?:eat|drink)\ (?:only|no|mostly))\ {_IT}\S+
                |(?:we|our\ (?:\w+\ ){{1,3}}?){_ADV}\ ?prefers?\ {_IT}\S+
                |i'd{_ADV}\ (?:much\ )?(?:rather|prefer)\ (?!not\b|if\b|you\b|that\b|this\b|it\b)\S+
                |i\ would{_ADV}\ (?:rather|prefer)\ (?!not\b|if\b|you\b|that\b|this\b|it\b)\S+
                |(?:i'm|i\ am){_ADV}\ (?:an?\ )?(?:strict\ )?(?:vegetarian|vegan|pescatarian|teetotal\w*|(?:big\ |huge\ )?fan\ of\ {_IT}\S+|not\ (?:a\ (?:big\ )?fan\ of|into|fond\ of)\ {_IT}\S+)
                |(?:my|our)\ (?:\w+\ )?(?:favou?rite|preferred|go-to)\ .+\ (?:is|are)\ \S+
                |i(?:'m|\ am)\ (?:more\ of\ )?an?\ \w+\ person\b"""
            ),
        ),
        FactPattern(
            "fact",
            0.85,
            _re(
                rf"""my\ (?:(?:first|last|full|nick)\ ?)?name(?:'s|\ is)\ \w+|i\ go\ by\ \w+
                |(?:i'm|i\ am){_ADV}\ {_ALLOWED_STATE}
                |i{_ADV}\ (?:live|work|study|teach|own|speak|drive|commute|come\ from|volunteer|manage|lead|maintain|code|play(?!\ around)
                |practi[cs]e|train|don't\ (?:have\ {_NO_THING}|own|drive|use|work|live|speak)|do\ not\ (?:have\ {_NO_THING}|own|drive|use|work|live|speak)
                |no\ longer|suffer\ from|grew\ up|was\ born|(?:got|was)\ (?:married|divorced|diagnosed|promoted|hired)|graduated)\ (?!it\b|that\b|this\b|on\ it|for\ moments|on\ the\ (?:first|second|third|next|last|same)\b)\S+
                |i(?:'ve|\ have)?{_ADV}\ (?:moved|relocated|switched|changed\ (?:jobs?|schools?))\ (?:to|from|into|in|back)\ (?!it\b|that\b)\S+
                |i{_ADV}\ (?:use|run)\ (?!it\b|that\b|this\b|into\b|out\b|the\ (?:code|test|command|script|following|same)|an?\ (?:test|command|query|script))\S+
                |i{_ADV}\ (?:have|own|keep)\ (?:an?|no|two|three|four|five|six|\d+|type|celiac|adhd|diabetes|asthma|\w*\ ?allerg\w+|twins|kids|children|dogs|cats)\b\ ?{_NO_THING}.*
                |i{_ADV}\ can\ only\ \S+|i\ (?:can't|cannot)\ (?:eat|drink|swim|drive|hear|ride|fly|cook|have\ (?:dairy|gluten|nuts))\b.*
                |i'?v?e?(?:\ have)?{_ADV}\ (?:bought|sold|adopted|quit|stopped|started|got\ (?:an?|no|two|three|four|\d+)\b{_NO_THING}|been\ (?:an?|vegan|vegetarian|living|working|married|diagnosed)|worked|lived)\ (?!to\ (?:think|see)|it\b|that\b|here\b)\S+
                |i\ (?!(?:said|meant|asked|knew|understood|thought|see|get|need|want|tried|try|got|hope|mean|think|know|feel|keep)\b)\w+\ (?:\S+\ ){{0,6}}(?:every|each)\ (?:single\ )?\w+
                |(?:my|our)\ {_EN_NP}(?:is|are|'s){_MOOD}\ (?!\w+ing\b)\S+
                |(?:my|our)\ {_EN_NP}(?:has|have|lives?|works?|runs?|starts?|uses?|goes|meets?|closes?|opens?|ends?|begins?|takes\ place|sits?
                |belongs?|attends?|costs?|plays?|speaks?|ships?|moved\ to|was\ born|stores?|hosts?|expires?)\ {_NO_THING}\S+
                |we{_ADV}\ (?:use|run|deploy|pay|host|meet|release|support|sell|bill|invoice|live|operate|employ|ship|store|charge|offer|work|publish
                |close|open|don't\ (?:use|work|ship|support|deploy|accept|sell)|no\ longer)\ (?!it\b|that\b|this\b|into\b|on\ it|out\ of)\S+
                |we{_ADV}\ have\ (?!to\b|been\b){_NO_THING}(?:an?|no|two|three|four|five|\d+|our|offices?)\b.*
                |we(?:'re|\ are){_ADV}\ (?:an?\ (?!bit|little)|based|located|on\ (?-i:[A-Z])|\d+\ people|not\ allowed)\ ?\S+"""
            ),
        ),
        FactPattern(
            "fact",
            0.7,
            _re(
                r"""(?:the|all|every|each)\ (?!(?:\w+\ ){0,3}(?:answer|weather|code|tests?|error|problem|question|result|output|bug|reason|idea
                |above|following|function|line|moon|sun|world|capital|page|article|website|readme|mail|email\ says)\b)(?:[\w'&./+-]+\ ){1,6}?
                (?:is|are|runs?|lives?|sits?|belongs?|starts?|ends?|closes?|opens?|goes|go|happens?|takes\ place|expires?|uses?|must|may\ (?:only|not)|costs?
                |moved\ to|reports?\ to|needs?\ to\ be|has\ to\ be)\ (?!\w+ing\b|not\ \w+ing|wrong|broken|still|an?\ (?:bit|mess))\S+"""
            ),
            needs_value=True,
        ),
        FactPattern(
            "fact",
            0.65,
            _re(
                r"""(?:(?:deadline|due\ date|launch|release|kick-?off|stand-?up|budget|demo)\b(?:\ \S+){0,4}?\ is\ \S+)
                |(?!(?:you|he|she|it|they|these|those|this|that|some|many|most|users|people|things|there|what|how|thanks|tests)\b)
                (?:\w+\ ){0,4}?\w+s\ (?:\w+\ ){0,3}?(?:run|go|are\ (?:sent|stored|hosted|due|held|paid|billed|deployed)|live|happen|start|cost|(?:must|may|cannot|can't)\ (?:not\ |only\ )?be)\ \S+"""
            ),
            needs_value=True,
        ),
    ),
    subjects=(
        (
            _re(r"my\ (?:(?:first|full)\ )?name(?:'s|\ is)\b|i(?:'m|\ am)\ called|i\ go\ by"),
            "user: name",
        ),
        (
            _re(
                rf"i(?:'ve|\ have)?{_ADV}\ (?:(?:live|moved|relocated)\ (?:back\ )?(?:in|to)|(?:am\ )?(?:based|living|located)\ in)\ (?:the\ )?(?:\w+\ of\ )?(?-i:[A-Z])|i'm{_ADV}\ (?:based|living|located)\ in\ (?:the\ )?(?-i:[A-Z])"
            ),
            "user: home",
        ),
        (
            _re(
                rf"(?:i{_ADV}\ work\ (?:at|for)|(?:i'm|i\ am){_ADV}\ (?:at|working\ (?:at|for)))\ (?:the\ )?(?-i:[A-Z])"
            ),
            "user: employer",
        ),
        (_re(rf"i{_ADV}\ work\ as\b|(?:i'm|i\ am)\ working\ as"), "user: job"),
        (_re(r"i\ (?:was\ born\ on)|my\ birthday"), "user: birthday"),
    ),
)

# German.

_DE_ADV = (
    r"(?:\ (?:auch|ja|eigentlich|wirklich|übrigens|sehr|gerade|derzeit|zurzeit|immer|meist\w*|nur|schon|selbst|jetzt|inzwischen"
    r"|am\ liebsten|lieber|gern\w*|generell|grundsätzlich|leider|normalerweise|noch|überhaupt|total|absolut))*"
)
_DE_IT = r"(?!\ ?(?:das|es|dies\w*|ihn|sie|deine?\w*|wie|dich|dir|Ihnen|ihr|die\ Idee|den\ Vorschlag|nicht$)\b)"
_DE_NO_THING = (
    r"(?!\ ?(?:\w+\ ){0,2}(?:Fragen?|Probleme?|Ideen?|Moment|Bitte|Fehler|Bugs?|Kopfschmerzen|Hunger|Durst|Ahnung|Zeit|Lust|Meinung"
    r"|Verdacht|Gefühl|Wunsch|Anliegen|Aufgabe|Vorschlag|Plan|Angst|Datei|Tabelle|Liste|Text|Glück|Pech|Recht|Drachen)\b)"
)
_DE_IMPERATIVE = (
    r"(?:antworte\w*|benutz\w*|nutze?|schreib\w*|verwend\w*|send\w*|schick\w*|nenn\w*|sprich|gib|halt\w*|erklär\w*|zeig\w*|mach\w*"
    r"|lass\w*|verzichte|vermeide|formulier\w*|frag\w*|sag\w*|duze?|sieze?|rede|empfiehl|schlag\w*|erwähn\w*|achte|rechne|übersetz\w*"
    r"|beginn\w*|fang\w*|speicher\w*|füg\w*)"
)
_DE_ALWAYS = (
    r"(?:ab\ jetzt|ab\ sofort|von\ (?:nun|jetzt)\ an|künftig|zukünftig|in\ Zukunft|immer|nie|niemals|stets|grundsätzlich|standardmäßig"
    r"|jedes\ Mal|nie\ wieder)"
)
_DE_OWN = r"(?:mein\w{0,2}|unser\w{0,2})"
_DE_NP = (
    r"(?!(?:\w+\ ){0,2}(?:Frage|Problem|Fehler|Meinung|Vorschlag|Idee|Code|Skript|Programm|Schleife|Funktion|Seite|Gehirn|Bildschirm|Konsole|Beispiel|Tests?|Anliegen|Ziel|Wunsch|Aufgabe|Bitte|Gott|Eindruck)\b)"
    r"(?:[\w'&./+-]+\ ){1,5}?"
)
_DE_MOOD = (
    r"(?!(?:\ (?:nicht|so|sehr|echt|zu|total|gerade|immer|noch|wieder|heute|leider|völlig|ein\ bisschen))*\ (?:kaputt|falsch|krank|langsam"
    r"|müde|traurig|sauer|komisch|nervös|kalt|heiß|toll|gut|super|schlecht|schön|egal|klar|unklar|leer|voll|richtig|weg|faul|doof|nervig"
    r"|schwierig|wichtig|einfach|fertig|blöd)\b)"
)

GERMAN: Final = LanguagePatterns(
    lead=_re(
        r"""(?:(?:hallo|hi|hey|moin|na\ ja|naja|na|ja|nein|nee|also|übrigens|ok|okay|gut|danke(?:\ dir|\ schön)?|ach|und|aber|tja
        |stimmt|genau|super|guten\ (?:morgen|tag|abend)|servus|grüß\ (?:dich|gott)|klar|toll|prima|wie\ gesagt|zur\ info|nebenbei
        |kurz\ zu\ mir|zu\ mir|außerdem|zudem|denn|weil|moment|ach\ so|ach\ ja|alles\ klar|weißt\ du|nur\ (?:so|damit\ du\ es\ weißt)
        |ehrlich\ gesagt|das\ heißt|dazu|sorry|entschuldigung|perfekt|mist|hm+)
        (?:[,:;.!]+\s*|\s+-+\s*|\s+(?=ich\b|mein|wir\b|unser|bitte|der\b|die\b|das\b|ab\b|in\ Zukunft|immer|nie)))+"""
    ),
    remember=_re(
        r"""(?:bitte\s+|und\s+|kannst\ du\ dir\ )*(?:merk\w*\s+(?:dir|euch|Ihnen)(?:\s+bitte)?|notier\w*(?:\s+(?:dir|bitte))*|denk\ dran|denk\ daran
        |vergiss\s+(?:bitte\s+)?nicht|behalte?\s+(?:bitte\s+)?im\s+(?:Kopf|Hinterkopf)|speicher\w*(?:\s+bitte)?|zur\ Erinnerung|beachte(?:\s+bitte)?)
        [,:]?\s*(?:dass\s+)?"""
    ),
    tail=_re(
        r"""(?:[,\s]+(?:übrigens|bitte|danke|merk\ dir\ das(?:\ bitte)?|ok|okay|ja|nur\ so|oder\ so|nebenbei|auch))+$"""
    ),
    scope=_re(
        r"""(?:für|bei|beim|im|in|auf|am|was)\ (?!ordnung\b|diese\w*\b|dem\ (?:text|absatz|beispiel)\b|der\ (?:datei|tabelle)\b)[^,.?!]{2,50}?,?\ (?=(?:bitte\ )?(?:immer|nie|niemals|stets|grundsätzlich)\b(?!\ ich\b))"""
    ),
    split=_re(
        r"""\s*,?\s+(?:und|aber|also|denn|weil|daher|deshalb)\s+(?=(?:ich|wir|mein\w{0,2}|unser\w{0,2}|bitte)\b)
        |,\s+(?=(?:ich|wir|mein\w{0,2}|unser\w{0,2}|bitte|kannst|könntest|hast|was|wie|wo|wann|welche\w*|wer|gibt|weißt|darf|soll)\b)
        |\s+-{1,2}\s+|\s+[\u2013\u2014]\s+|:\s+(?=(?:ich|wir|mein\w{0,2}|unser\w{0,2}|es)\b)"""
    ),
    question=_re(
        r"""(?:was|wie|wo|wohin|woher|wann|welche\w*|wer|wen|wem|warum|wieso|weshalb|ist|sind|bin|war|hast|habe\ ich|hat|haben|kann|kannst
        |könntest|könnte|darf|soll|sollte|muss|wird|würdest|magst|gibt|stimmt|weißt|kennst|geht|heiße\ ich|wohne\ ich|mag\ ich)\b"""
    ),
    unsure=nonfactual.GERMAN_UNSURE,
    reported=nonfactual.GERMAN_REPORTED,
    opening=nonfactual.GERMAN_OPENING,
    people=_re(rf"\b(?:{nonfactual.GERMAN_PEOPLE})\b"),
    passing=nonfactual.GERMAN_PASSING,
    correction=_re(
        r"""(?:(?:nein|ne|nee|moment|warte|halt|falsch|sorry|entschuldigung|korrektur|stimmt\ nicht|eigentlich|ach|doch\ nicht|update|quatsch|mein\ Fehler
        |das\ ist\ (?:falsch|veraltet|nicht\ mehr\ aktuell)|das\ stimmt\ nicht(?:\ mehr)?)(?:[,:;.!]+\s*|\s+-+\s*|\s+))+
        (?:(?:es|das|er|sie)\s+(?:ist|sind|findet|läuft|heißt|liegt)\s+(?:jetzt\s+|inzwischen\s+|nun\s+|mittlerweile\s+|doch\s+|eigentlich\s+)*
        |ich\ meinte\s+|(?:jetzt|inzwischen|nun|mittlerweile)\s+(?:ist\ (?:es|das)\s+)?|ist\ jetzt\s+|(?:es|das)\ wurde\ (?:auf|zu)\s+)
        (?!nicht\b|gut|ok|okay|falsch|egal|kein)(.+)"""
    ),
    facts=(
        FactPattern(
            "decision",
            0.85,
            _re(
                r"""(?:wir|ich)\ (?:\S+\ ){0,12}(?:entschieden|beschlossen|geeinigt|festgelegt|vereinbart)\b.*
                |wir\ (?:\S+\ ){0,12}(?:verschoben|abgelehnt|abgesagt|genehmigt|abgeschafft|eingeführt|umgestellt|gestrichen|verworfen|beauftragt|eingestellt|genommen|gewählt|ausgewählt|ausgesucht)\b.*
                |wir\ (?:nehmen|setzen\ (?:\S+\ ){0,2}auf|wechseln|migrieren|steigen\ .*um\b|stellen\ .*um\b|führen\ .*ein\b|werden\ .*(?:nutzen|nehmen|umsteigen|wechseln|migrieren|einführen|verwenden)\b)\ ?\S*.*
                |(?:die\ )?entscheidung\ ist\ gefallen.*"""
            ),
        ),
        FactPattern(
            "instruction",
            0.85,
            _re(
                rf"""(?:bitte\ )?{_DE_ALWAYS},?\ (?:bitte\ )?(?!beim\b|wenn\b|ich\b|wir\b|mein|der\b|die\b|das\b|wieder\b|noch\b|mehr\b|gut)\w+.*\ \S+
                |(?:bitte\ )?{_DE_IMPERATIVE}\ (?:\S+\ ){{0,8}}{_DE_ALWAYS}\b.*
                |(?:bitte\ )?halte?\ (?:\w+\ ){{0,2}}(?:Antworten|Erklärungen|Zusammenfassungen|Kommentare|Nachrichten)\ \S+.*
                |(?:bitte\ )?(?:duz\w?|siez\w?|duzen\ Sie|siezen\ Sie)\ mich\b.*|(?:bitte\ )?nenn\w?\ mich\ \w+
                |(?:bitte\ )?(?:antworte|sprich|rede|schreib)(?:\ (?:mir|mit\ mir|bitte|immer|nur))*\ (?:auf|in)\ (?!die|den|einer|ein\b)\w+
                |(?:bitte\ )?(?:halte?\ dich\ kurz|fass\ dich\ kurz|verzichte\ auf\ \S+|vermeide\ \S+|keine\ (?:Emojis|Anglizismen|Floskeln|Entschuldigungen)\b).*
                |ich\ möchte,?\ dass\ du\ (?:immer|nie|niemals|stets)\b.*|du\ (?:sollst|darfst|musst)\ (?:mich\ |mir\ )?(?:immer|nie|niemals)\b.*"""
            ),
        ),
        FactPattern(
            "event",
            0.8,
            _re(
                r"""(?=.*\b(?:ich|wir|mein\w{0,2}|unser\w{0,2})\b)(?=.*\b(?:ziehe\w?|ziehen|fliege\w?|fliegt|reise\w?|verreise\w?|fahre\w?|heirate\w?|heiratet|fängt|beginn\w*|startet|feier\w*
                |zieht|umziehen|\w*[Tt]ermin|\w*prüfung|Prüfung|Urlaub|Hochzeit|Operation|OP|Flug|Vorstellungsgespräch|eingeschult|besuche\w?|umzug|Konzert|Klausur|Examen)\b).*"""
            ),
            needs_value=True,
        ),
        FactPattern(
            "preference",
            0.85,
            _re(
                rf"""wir{_DE_ADV}\ (?:bevorzugen|mögen)\ (?!das\b|es\b)\S+|unsere?\ \w+\ bevorzugt\ \S+
                |ich{_DE_ADV}\ (?:bevorzuge|mag|liebe|hasse|verabscheue|ziehe\ .*\ vor\b|esse{_DE_ADV}\ (?:kein\w*|nie|nur|gern\w*|lieber|am)|trinke{_DE_ADV}\ (?:kein\w*|nie|nur|gern\w*|lieber|am))\b{_DE_IT}{_DE_ADV}{_DE_IT}\ \S+
                |ich{_DE_ADV}\ (?:bevorzuge|präferiere|favorisiere)\ (?!(?:das|es|dies\w*|ihn|sie)$)\S+.*|ich\ ziehe\ \S+.*\ vor$
                |(?:\S+\ ){{1,5}}(?:bevorzuge|präferiere)\ ich\ \S+.*|(?:\S+\ ){{0,5}}(?:\w+e|mag)\ ich\ (?:\S+\ )?(?:lieber|am\ liebsten)\ \S+.*
                |(?:am\ liebsten|lieber)\ (?:\w+e|mag)\ ich\ \S+.*|mir\ (?:ist|sind)\ \S+.*\ lieber\b.*
                |ich\ \w+\ (?:am\ liebsten|lieber|gern|gerne|ungern|nicht\ gern|sehr\ gern\w?)\ \S+
                |ich\ (?:bin|lebe|ernähre\ mich){_DE_ADV}\ (?:(?:strenge?\w?\ )?(?:Vegetarier\w*|Veganer\w*|Pescetarier\w*)|vegan\w*|vegetarisch\w*|(?:ein\ )?(?:großer\ )?Fan\ von\ \S+)
                |{_DE_OWN}\ (?:\w+\ )?Lieblings\S+\ (?:ist|sind)\ \S+|mir\ ist\ \S+\ lieber\b.*|ich\ (?:kaufe|nutze|benutze|verwende|schaue|höre|lese){_DE_ADV}\ (?:kein\w*|nie|niemals)\ \S+"""
            ),
        ),
        FactPattern(
            "fact",
            0.85,
            _re(
                rf"""ich{_DE_ADV}\ (?:heiße|wohne|lebe|arbeite|komme\ aus|stamme\ aus|studiere|spreche|fahre|nutze|benutze|verwende|besitze|leite|unterrichte|spiele(?!.*\bherum\b)|lerne|betreue|vertrage|pendle|jogge|laufe|trainiere|leide\ an|suche\ (?:eine?\w?\ )?(?:Wohnung|Haus|Stelle|Job|Arbeit|Kita)){_DE_IT}\ \S+
                |ich{_DE_ADV}\ (?:habe|hab)\ (?!ich\b){_DE_ADV}\ ?(?:ein\w{{0,2}}|kein\w{{0,2}}|zwei|drei|vier|fünf|\d+|Diabetes|Asthma|ADHS|Zöliakie|Kinder|\w*allergie)\b\ ?{_DE_NO_THING}(?!.*(?:gemacht|gesehen|gefrühstückt|gelesen|gefunden|geschrieben|bekommen|gehört|versucht|vergessen|verloren)).*
                |(?:ein\w{{0,2}}|kein\w{{0,2}})\ {_DE_NO_THING}\w+\ (?:habe|hab|besitze|fahre)\ ich\b.*
                |ich\ bin{_DE_ADV}\ (?:\d+\b|aus\ \S+|von\ Beruf\ \S+|in\ \S+\ (?:geboren|aufgewachsen)|bei\ .*\ (?:angestellt|beschäftigt|tätig)|allergisch|verheiratet|ledig|geschieden|verwitwet|schwanger|selbstst?ändig|arbeitslos|berentet|farbenblind|gehörlos|blind\b|verlobt|vegan
                |(?:eine?\ )?(?!Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Ihnen|Dir|Sicher|Froh|Teil\b|Mitte|Ende|Anfang|König|Kaiser|Gott|Außerirdisch|Roboter|Pirat)(?-i:[A-ZÄÖÜ])[\wäöüß-]{{3,}})
                |(?:{_DE_OWN})\ {_DE_NP}(?:ist|sind){_DE_MOOD}\ \S+
                |(?:{_DE_OWN})\ {_DE_NP}(?:heißt|heißen|hat|haben|wohnt|wohnen|arbeitet|läuft|laufen|steht|stehen|liegt|liegen|findet|finden|beginnt|startet|endet|geht|gehen|gehört|fährt|kommt\ aus|nutzt|nutzen|wird|werden|kostet|schließt|öffnet|dauert|trägt|besucht|studiert|spricht)\ {_DE_NO_THING}(?!es\ nicht|mir)\S+
                |wir{_DE_ADV}\ (?:nutzen|benutzen|verwenden|arbeiten|betreiben|hosten|deployen|zahlen|bezahlen|verschicken|versenden|veröffentlichen|wohnen|leben|speichern|treffen\ uns|entwickeln|verkaufen|liefern|programmieren|beschäftigen|haben{_DE_ADV}\ (?:ein\w{{0,2}}|kein\w{{0,2}}|zwei|drei|vier|fünf|\d+)\b\ ?{_DE_NO_THING}|sind{_DE_ADV}\ (?:ein\w{{0,2}}|\d+|in)){_DE_IT}\ \S+
                |(?:der|die|das|alle|unsere?\w?)\ (?:\S+\ ){{1,4}}(?:verschicken|versenden|zahlen|nutzen|deployen|speichern|bezahlen|liefern|machen|hosten|veröffentlichen)\ wir\ \S+.*
                |(?:am|im|jeden|montags|dienstags|mittwochs|donnerstags|freitags)\b(?:\ \S+){{0,3}}\ (?:deployen|arbeite|arbeiten|treffen|gehe|trainiere|laufe)\ (?:wir|ich)\b.*"""
            ),
        ),
        FactPattern(
            "fact",
            0.7,
            _re(r"""(?:der|die|das)\ \S+(?:\ \S+)?\ heißt\ (?!das|es|nicht|,)\S+"""),
        ),
        FactPattern(
            "fact",
            0.7,
            _re(
                r"""(?:der|die|das|alle|jeder|jede)\ (?!(?:\w+\ ){0,2}(?:Antwort|Wetter|Code|Tests?|Fehler|Problem|Frage|Ergebnis|Funktion|Zeile|Seite|Artikel|Mail|Welt|Sonne|Hauptstadt)\b)(?:[\w'&./+-]+\ ){1,5}?
                (?:ist|sind|läuft|laufen|liegt|liegen|steht|stehen|findet|finden|beginnt|startet|endet|geht|gehen|gehört|schließt|öffnet|kostet|muss|darf\ nur|darf\ nicht|wird|werden)\ (?!falsch|kaputt|nicht\ gut)\S+"""
            ),
            needs_value=True,
        ),
    ),
    subjects=(
        (_re(r"ich\ heiße\b|mein\ Name\ ist"), "user: name"),
        (
            _re(
                rf"ich{_DE_ADV}\ (?:wohne|lebe){_DE_ADV}\ in\ (?!ein|d[ei]|mein|unser)(?!.*\bnicht\b)"
            ),
            "user: home",
        ),
        (_re(rf"ich{_DE_ADV}\ arbeite{_DE_ADV}\ (?:bei|für)\b"), "user: employer"),
        (_re(rf"ich{_DE_ADV}\ arbeite{_DE_ADV}\ als\b"), "user: job"),
        (_re(r"mein\ Geburtstag\b"), "user: birthday"),
    ),
)

# Chinese.

_ZH_ADV = r"(?:更|最|很|非常|特别|比较|真的|还|也|一直|都|其实|现在|目前|平时|平常|通常|已经|一般|只|总是|最近|经常|从来|本来|确实|就|正)*"
_ZH_IT = r"(?!(?:这个|那个|这样|那样|你|它|他|她|这|那)(?:的)?(?:主意|想法|方案|回答|答案)?$)"
_ZH_KIN = r"(?:女儿|儿子|孩子|妻子|老婆|太太|丈夫|老公|先生|妈妈|母亲|爸爸|父亲|父母|爷爷|奶奶|哥哥|弟弟|姐姐|妹妹|狗|猫|老家|家|公司|团队|部门|男朋友|女朋友)"
_ZH_TIME = r"(?:明天|后天|下个?(?:周|星期|月|年)\S{0,3}|这?周[一二三四五六日末]|星期[一二三四五六日]|\d{1,2}\s*月(?:\d{1,2}\s*[日号])?|\d{1,2}[日号]|明年|月底|年底|寒假|暑假|国庆|春节)"

CHINESE: Final = LanguagePatterns(
    lead=_re(
        r"""(?:(?:嗯|好的|好|对了|其实|另外|顺便(?:说|提)?(?:一下|一句)?|那个|谢谢|是的|对|哦|啊|而且|但是|但|不过|还有|你好|您好|嗨|因为|所以|说真的|补充一下|说明一下|背景是|那)
        (?:[，,。！!：:、\s]+|(?=我|请|以后)))+"""
    ),
    remember=_re(
        r"""(?:请|麻烦|帮我|你)*(?:记住|记得|记一下|记下来?|注意|别忘了|不要忘记|牢记|记下)[，,：:]?(?:一下[，,：:]?)?"""
    ),
    tail=_re(r"""(?:[，,\s]*(?:谢谢|哦|啊|呀|哈|请记住|记住了?|记一下))+$"""),
    scope=_re(
        rf"""[^，,我你他她它]{{1,10}}(?:的?时候?|时|方面|上|里|中|早上|早晨|晚上|中午|下午|平时)[，,]?(?=我们?{_ZH_ADV}(?:喜欢|偏好|偏爱|倾向|宁愿|爱))"""
    ),
    split=_re(
        r"""[，,；;]\s*(?=(?:我|我们|咱们|请|以后|但|不过|所以|而且|现在|目前|你|今天|能|可以|帮|不|有没有|怎么|什么|哪|在|住|是|喜欢|讨厌|会|做|从|对|只|家在|平时|因为))"""
    ),
    question=_re(
        r""".*(?:什么|怎么|怎样|为什么|为何|哪[里儿个些位]?|谁(?!都|也)|多少|几[个点岁]|能不能|可不可以|是不是|有没有|好不好|行不行|吗$|呢$|吧$)"""
    ),
    unsure=nonfactual.CHINESE_UNSURE,
    reported=nonfactual.CHINESE_REPORTED,
    opening=nonfactual.CHINESE_OPENING,
    people=_re(nonfactual.CHINESE_PEOPLE),
    passing=nonfactual.CHINESE_PASSING,
    correction=_re(
        r"""(?:(?:不对|不是|不|错了|更正|等等|等一下|抱歉|对不起|纠正一下|说错了|记错了|我说错了|我记错了)[了的]*[，,。！!：:\s]*)+
        (?:(?:它|这|那|应该)?(?:现在|目前|已经|改|换|调整|应该)*(?:改成|改为|改到|改在|换成|换到|调到|调整到|是|为|推迟到|提前到|在)了?)(?!不)(.+?)了?$"""
    ),
    facts=(
        FactPattern(
            "decision",
            0.85,
            _re(
                r"""(?:最后|最终|后来)我们?(?:用|改用|选|采用|签|定)了.{2,}|(?:我们?|咱们?|团队|公司|我们(?:公司|团队|组|部门))(?:已经|最终|最后|都|今天|昨天|刚|正式|终于|一致)*(?:决定|选定|确定|商定|定下来|选择了|选了|选用|改选|定了|换成了|说好|敲定|同意).{2,}"""
            ),
        ),
        FactPattern(
            "instruction",
            0.85,
            _re(
                r"""(?:请)?(?:以后|从现在(?:起|开始)|从今以后|今后|往后|每次(?!一)|始终|永远|总是|务必|一律|默认|凡是)(?!我(?!的)|我们).{2,}
                |请?(?:一直|始终|只|都|总是)?(?:用|以).{1,12}(?:回答|回复|交流|跟我说|和我说|沟通).*|(?:请|你可以)?(?:叫我|称呼我(?:为)?).{1,12}
                |(?:请)?(?:不要|别|禁止)(?:再)?(?:使用|用|发|提|推荐|加).{2,}|(?:回答|回复|代码|注释|示例)(?:请|要|都|必须|尽量|应该).{2,}"""
            ),
        ),
        FactPattern(
            "event",
            0.8,
            _re(
                rf"""(?:我们?|咱们|我(?:的)?{_ZH_KIN})(?:\S{{0,6}})?{_ZH_TIME}.*(?:去|出差|飞|搬|结婚|生日|开学|考试|手术|面试|回|参加|旅行|旅游|毕业|上线|发布|入职|出发|看|到)
                .*|{_ZH_TIME}(?:我们?|咱们|我(?:的)?{_ZH_KIN}).*(?:去|出差|飞|搬|结婚|生日|开学|考试|手术|面试|回|参加|旅行|旅游|毕业|上线|发布|入职|出发).*"""
            ),
        ),
        FactPattern(
            "preference",
            0.85,
            _re(
                rf"""我{_ZH_ADV}(?:喜欢|热爱|爱吃|爱喝|爱看|爱用|偏爱|偏好|讨厌|不(?:太)?喜欢|不爱|不吃|不喝|只吃|只喝|习惯|受不了|宁愿|倾向于|最爱|吃不了|不能吃|不碰){_ZH_IT}.+
                |我{_ZH_ADV}(?:吃素|是素食).*|我(?:最)?(?:喜欢|爱)的.+(?:是|叫).+|(?:我们|咱们|我们?团队){_ZH_ADV}(?:喜欢|偏好|偏爱|倾向于){_ZH_IT}.+
                |比起[^，我]{{1,10}}[，,]?我们?{_ZH_ADV}(?:喜欢|爱|想).+"""
            ),
        ),
        FactPattern(
            "fact",
            0.85,
            _re(
                rf"""我{_ZH_ADV}(?:叫(?!你|他|她)|姓|名叫|住(?!嘴|手|口)|在.{{1,14}}(?:工作|上班|上学|读书|读研|任职|做|办公|教|实习|就职)|来自|养了|会说|使用|用(?!这|那|第|一下|你|.*(?:试过|试了))|在用|从事|毕业|搬到|搬去|搬家|出生|对.{{1,10}}过敏|在?学(?!到)(?:的|过|习)?|不再|不住|不用|负责|教|经营|开了|患有|得了|是左撇子|每天|每周|每个?月|每年|家住|家在)(?!不).*
                |我{_ZH_ADV}(?:今年)?\s*\d+\s*岁.*|我{_ZH_ADV}(?:每天|每周\S?|每晚|每个月).+|我(?:退休|结婚|离婚|怀孕)了|我(?:已经)?不在.+了
                |我{_ZH_ADV}是(?!说|想|觉得|不是|来|在问|指|要|谁|开玩笑|认真|个?(?:皇帝|国王|外星人|机器人|超人|神仙|秦始皇|孙悟空)).+
                |我{_ZH_ADV}(?:没有|有)(?!.{0, 10}(?:脚本|文件|表格|代码|数据集|图片|文档))(?!个?(?:问题|疑问|想法|建议|时间|空|点|些|件事|一个(?:问题|想法|疑问|建议|请求)|需求|意见|办法|人说))(?!.*(?:问题|疑问|想法|建议|请求)$).+
                |我(?:的|家)?(?:的)?(?!问题|意思|想法|建议|天|看法|需求|代码|理解){_ZH_KIN}(?!正在)(?:的\S{{1,6}})?(?:是|叫|在|住|有|今年|每|用|使用|对|已经|喜欢吃).+
                |我的(?!问题|意思|想法|建议|看法|需求|代码|理解|天|屏幕|程序|脚本|例子).{{1,10}}(?:是|叫|在|为).+
                |(?:我们|咱们)(?:的|公司|团队|组|部门|家|店|学校)?{_ZH_ADV}(?!去|走|来|看|开始|.*得[很特非]|.*(?:上面|题目|例子|第[一二三\d]步))(?:(?:\S{{0,8}})(?:用|使用|采用|部署|办公|是|有(?!问题)|每周|每天|每月|放在|存在|托管|不再|不支持|支持|在)).+
                |(?:现在|目前)(?:在|住在|住|用|是).{{2,}}"""
            ),
        ),
        FactPattern(
            "fact",
            0.7,
            _re(
                r"""(?!你|他|她|它|这|那|什么|今天|明天|请|网|文章|页面|邮件|答案|结果|天气|代码|测试|问题|如|为|地球|世界)[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?(?:是(?!不是)|在|为|改为|改到|改成|推迟到|提前到).+"""
            ),
            needs_value=True,
        ),
        FactPattern(
            "fact",
            0.7,
            _re(
                r"""(?!你|他|她|它|这|那|网|文章)[\u4e00-\u9fffA-Za-z0-9 ]{2,14}?(?:部署在|托管在|存放在|运行在|存储在).{2,}"""
            ),
        ),
    ),
    subjects=(
        (_re(rf"我{_ZH_ADV}(?:叫|名叫)|我的名字"), "user: name"),
        (
            _re(
                rf"我{_ZH_ADV}(?:住在?|搬到了?|家住|家在)(?![在了一二两三四五\d]|宿舍|公寓|学校|公司)"
            ),
            "user: home",
        ),
        (_re(r"我的生日"), "user: birthday"),
    ),
)
