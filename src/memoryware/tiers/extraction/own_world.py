"""Shapes of lasting statements that say whose world they are about: the user's, family's or team's.

They find what no pattern of facts knows ("I can't lift anything until March", "In our team nobody
deploys on Fridays"): the speaker or the speaker's group as the subject or beside a rule, a habit or
a date. Verbs of a chat and of the work at hand ("I click", "I get an error") stay out unless a time
makes them a habit.
"""

# long: the words of three languages; a part of it says nothing by itself

from __future__ import annotations

import re
from typing import Final

from memoryware.tiers.extraction.rule_patterns import DAYS, MONTH
from memoryware.tiers.text.irregular_forms import ENGLISH_FORMS
from memoryware.tiers.text.nonfactual import CHINESE_FAMILY, ENGLISH_FAMILY, GERMAN_FAMILY


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


# English.

_PAST: Final = frozenset(form for form in ENGLISH_FORMS if not form.endswith("s"))
_NUMBER: Final = r"(?:\d[\w:.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|ninety|hundred)"
_WHEN: Final = (
    rf"(?:(?:every|each)\ (?!time\b|line\b|page\b|file\b|one\b)\w+|\b(?:{DAYS})\b|weekdays|weekends?|weeknights|at\ (?:noon|midnight|night|{_NUMBER})\b"
    rf"|(?:by|until|till|since|before|after|around|from)\ (?:the\ )?(?:{_NUMBER}\b|{MONTH}\b|noon\b|midnight\b|christmas|easter|summer|winter|spring|autumn|childhood|birth|breakfast|lunch|dinner|end\ of|school|work\b|bed|my\b|our\b)"
    rf"|in\ (?:{MONTH})\b|\b(?:19|20)\d\d\b|(?:first|last|second|third)\ (?:working\ |business\ )?(?:day|week|weekend|monday|friday|quarter)|{_NUMBER}(?:\ |-)?(?:am|pm|o'clock|hours|days|weeks|months|years)\b|daily|weekly|monthly|quarterly|yearly|annually"
    r"|(?:once|twice|times)\ an?\ (?:day|week|month|year)|in\ the\ (?:mornings?|evenings?|afternoons?)|on\ the\ \d+(?:st|nd|rd|th)|during\ (?:the\ )?\w+)"
)
"""A time that makes a habit, a rule or a date of what is said."""
_EN_TALK: Final = frozenset(
    """
admit advise agree am are apologise apologize appreciate approve argue ask assume be bet believe can cannot care comment compare
complain confess confirm consider could decide demand deny did disagree doubt dream enjoy expect fail fear feel find forget
get guess had hate have hear hope imagine insist intend know laugh like look love mean mention might mind miss must need notice object
offer owe plan prefer promise propose realise realize recall receive recommend reckon refer regret remember repeat request say see
seem shall should smell sound speak specify state suggest suppose suspect swear tell thank think trust try understand want was were will
wish wonder worry would
""".split()  # noqa: SIM905 - a list of words
)
"""Verbs of a conversation, and those that patterns of facts know better."""
_EN_WORK: Final = frozenset(
    """
add append apply assign attach begin browse build call cancel change check choose click close come commit compile concatenate connect
continue convert copy create cut debug declare define do delete deploy download drag edit enter execute export fetch finish fix follow
format give go hit implement import include initialise initialize insert install join keep leave let list load log loop make
merge modify move open pass paste pick post press print pull push put read refactor refresh reload remove rename replace
rerun reset resize restart retry return rewrite run save scroll search select send set shift show sort split start stop store submit
switch take talk test turn type unzip update upgrade upload use visit wait write zip
""".split()  # noqa: SIM905 - a list of words
)
"""Verbs of the work at hand; with a time such as "every Monday" they are a habit."""
_EN_PIECE: Final = r"(?:code|files?|scripts?|messages?|texts?|outputs?|lists?|tests?|examples?|screen|console|terminal|browser|functions?|loops?|quer(?:y|ies)|questions?|answers?|chat|conversation|stor(?:y|ies)|essays?|paragraphs?|documents?|tables?|charts?|diagram|view|opinion|case|experience|mind|head|humble|last|first|second|understanding|dreams?|defen[cs]e|program|app|exercise|task|homework|prompt|draft|sentences?|title|headings?|errors?|totals?|arguments?|parameters?|elements?|values?|columns?|rows?|pages?|lines?|buttons?|output|images?|pictures?|screenshots?|snippets?|links?)\b"
"""What a chat works on; a statement about it is none of the speaker's world."""
_EN_OURS: Final = (
    rf"(?:(?:in|at|of|with|by|from|for|on)\ (?:our|my)\ (?!{_EN_PIECE})\w+|(?:in|at|for|on)\ (?:this|the)\ (?:project|team|company|repo(?:sitory)?|code\ ?base|house(?:hold)?|office|department|shop|family|organi[sz]ation|clinic|practice|school|warehouse)"
    r"|(?:for|with)\ (?:me|us)|around\ here)\b"
)
"""Words that say that a rule is one of the speaker's group."""
_EN_THING: Final = r"(?!(?:around|it|that|this|these|those|them|him|her|you|your|what|how|why|if|whether|up\ with\ you|the\ (?:same|following|first|second|third|last|above|other|next)|so|too)\b)"
_EN_ADV: Final = r"(?:\ (?:also|always|never|only|usually|normally|mostly|generally|often|rarely|still|currently|no\ longer|just|already|both|all|mainly|regularly))*"
_EN_MOOD: Final = (
    r"(?!(?:not\ |so\ |very\ |too\ |really\ |quite\ |totally\ |a\ bit\ |more\ |most\ |the\ |still\ |all\ )*(?:fine|ok|okay|good|great|bad|perfect|better|best|enough|clear|unclear|new|hard|easy|difficult|complicated|important"
    r"|interesting|helpful|useful|confusing|confused|wrong|right|nice|cool|fun|boring|news|possible|impossible|missing|broken|failing|true|false|same|problem|issue|question|reason|point|too|long|short|lovely|wonderful|weird|strange|there|here)\b)"
)
_EN_FAMILY: Final = rf"(?:my|our)\ (?:\w+\ )?(?:{ENGLISH_FAMILY})(?:\ (?-i:[A-Z])\w+)?"
_EN_SHAPES: Final = (
    # "I can't do meetings before ten.", "I have to leave at four on Thursdays."
    _re(
        rf"""(?:i|we)(?:'m|'re|\ am|\ are)?{_EN_ADV}\ (?:can(?:'t|not|\ not)?(?:\ only)?|may(?:\ not|\ only)?|must(?:n't|\ not)?|have\ to|need\ to|not\ allowed\ to|allowed\ to|supposed\ to|not\ supposed\ to)
        \ (?!(?:say|admit|ask|fix|find|know|tell|figure|think|wait|try|see|run|test|check|debug)\b){_EN_THING}\w+\b.*{_WHEN}.*"""
    ),
    _re(
        rf"""(?:i|we)(?:'m|'re|\ am|\ are)?{_EN_ADV}\ (?:can't|cannot|mustn't|must\ not|may\ not|not\ allowed\ to|not\ supposed\ to)\ (?:lift|eat|drink|digest|tolerate|stand|bear|drive|swim|walk|climb|fly|smoke|have|attend|join\ (?:calls|meetings)|work|sleep|wear|use|keep|hire|travel|take)
        \ {_EN_THING}\w+(?!\ (?:work|error)).*"""
    ),
    # "I'm away until May.", "I'll be in Lisbon from the 3rd to the 9th."
    _re(
        rf"""(?:i|we)(?:'m|'re|\ am|\ are|'ll\ be|\ will\ be)\ (?:not\ )?(?:off|away|out\ of|on\ \w+(?:\ \w+)?\ leave|on\ (?:holiday|vacation|leave|call|duty|sabbatical)|in\ (?-i:[A-Z])\w+|at\ (?:the|my|our)|abroad|travell?ing
        |unavailable|available|reachable|back|free|busy|open|closed)\b.*{_WHEN}.*"""
    ),
    # "I've been diabetic since childhood.", "We've had our own servers since 2015."
    _re(
        r"(?:i|we)(?:'ve|\ have)(?:\ (?:both|all|always|only|never))?\ (?:been(?!\ (?:waiting|trying|looking|searching|thinking|struggling|stuck|getting|debugging|testing|reading|asking|wondering|fighting|working\ on|using\ th))|had|lived|worked|used|known|played|run|taught|kept|owned|practi[cs]ed|suffered|rented|studied|lost|served)\ .*\b(?:since|for)\ (?!a\ (?:while|moment|minute|bit)|ages|hours|minutes|some\ time|this|now|that|it|you|the\ (?:last|past))\S+.*"
    ),
    _re(
        r"(?:i|we)(?:'ve|\ have)\ got\ (?!it\b|to\b|this|that|these|you|an?\ (?:error|question|problem|bug|issue|idea|task|list|file|minute|moment|feeling)|some\ (?:errors|questions)|the\ (?:same|error|following)|nothing|\w+\ (?:errors?|questions?|problems?|minutes?)\b)\S+\ \S.*"
    ),
    # "I'm hard of hearing.", "I'm afraid of dogs."
    _re(
        r"i(?:'m|\ am)\ (?:\w+ly\ )?(?:hard\ of\ hearing|in\ a\ wheelchair|afraid\ of|scared\ of|prone\ to|sensitive\ to|intolerant|new\ to\ (?-i:[A-Z])|unable\ to|short-?sighted|the\ (?:mother|father|parent|oldest|youngest|eldest|only)|recovering\ from|a\ \w+\ (?:by|in\ my)|in\ the\ (?:\w+\ ){1,2}(?:time\ ?zone|team|department|group|class|choir|band|orchestra)|in\ (?:my|our)\ \w+|on\ (?:insulin|medication|a\ (?:diet|low)|blood|beta|anti)\w*|responsible)\b.*"
    ),
    # "There are twelve people in our team."
    _re(
        rf"there(?:'s|\ is|\ are)\ (?:only\ |always\ |also\ )?(?:an?|no|never|\d+|\w+)\ \w.*\b(?:in|at|on|for|near|behind|outside)\ (?:our|my)\ (?!{_EN_PIECE})\w.*"
    ),
    # "In our flat nobody wears shoes.", "At our company the CFO signs every contract."
    _re(
        rf"""(?:in|at|on|for|with|within)\ (?:our|my)\ (?!{_EN_PIECE})
        (?:\w+\ ){{0,3}}?\w+,?\ (?:the|we|i|nobody|no\ one|none|everyone|everybody|all|each|every|people|there(?:'s|\ is|\ are)|our|my|only|no|two|three|most|both|\w+s|(?-i:[A-Z]\w+))\ (?!.*\b(?:was|were|had|did|went|got|you)\b)\w+.*"""
    ),
    # "Nobody deploys without a review.", "Everyone works from home on Mondays."
    _re(
        r"(?:nobody|no\ one|everyone|everybody|all\ of\ us|none\ of\ us|each\ of\ us|(?:all|both|most|half)\ of\ (?:our|my)\ \w+)\ (?:(?:in|at|on)\ (?:our|the|my)\ \w+\ |here\ )?(?:is\ allowed\ to\ \w+|(?!(?:knows?|likes?|loves?|thinks?|says?|hates?|wants?|seems?|is|are|was|were|has|had|agrees?|believes?|cares?|understands?|told|said|can|could|should)\b)\w+s?)\ (?:in|at|on|from|without|before|after|until|the|our|a|an|their|to|every|with|for|by|alone|only)\ \S.*"
    ),
    # "No meetings after 4 pm."
    _re(
        r"""no\ (?!problem|idea|rush|worr|need|doubt|wonder|way\b|luck|thanks|matter|pressure|hurry|changes?\b|errors?\b|offen[cs]e|clue|results?\b|outputs?\b|response|comment|difference|answer|one\b|more\ (?:questions|time)|reason|sign\b|trace\b|warning)
        \w+(?:\ \w+){0,3}?\ (?:in|on|at|before|after|without|during|until|for|between|past|with)\ (?!me\b|this|that|now\b|it\b|you|the\ (?:output|logs?|console|file|code|screen|result)|my\ (?:side|end))\w.*"""
    ),
    # "Shellfish is off the menu for me.", "Deployments on Fridays are forbidden in our team."
    _re(
        rf"""(?!(?:that|this|it|he|she|they|you|your|what|there|here|which|these|those|option|variant|version|who|how)\b)(?:[\w'-]+\ ){{1,6}}?(?:is|are|isn't|aren't)\ {_EN_MOOD}
        (?!.*\b(?:fine|okay|too|easier|harder|clearer|clear|confusing|difficult|broken|wrong|missing)\b).*\b{_EN_OURS}.*"""
    ),
    _re(
        r"(?!(?:you|it|this|that|they|he|she|we|i|there)\b)(?:[\w'-]+\ ){1,6}?(?:is|are)\ (?:strictly\ |only\ |not\ |always\ |never\ )*(?:forbidden|prohibited|banned|mandatory|compulsory|required|obligatory|optional|allowed|permitted|off\ limits|reserved|confidential|tax-deductible|(?:not\ |only\ |always\ |never\ )?(?:reimbursed|refunded|paid|covered|accepted|processed|billed|charged|invoiced|delivered|shipped|stored|kept|archived|encrypted|backed\ up))\b.*"
    ),
    # "Invoices above 5000 euros need two signatures.", "Support tickets get an answer within a day."
    _re(
        rf"(?!(?:you|it|this|that|they|he|she|i|these|those|tests?|errors?|lines?|functions?|questions?|results?|answers?)\b)(?:[\w'-]+\ ){{0,5}}?\w+(?<!s)s(?:\ (?:above|over|below|under|from|for|of|in|on|with|without|by|to)\ (?:\S+\ ){{0,3}}?\S+)?\ (?:needs?|requires?|gets?|takes?)\ (?:at\ least\ |at\ most\ |about\ |up\ to\ )?(?:{_NUMBER}|an?|the|our|prior|written)\ (?!look|break|error|fix|comma|bit|lot)\w+.*"
    ),
    # "Secrets must never be committed.", "Every change must be reviewed."
    _re(
        r"""(?!(?:you|it|this|that|they|he|she|i|there|what|these|those|(?:\S+\ ){0,2}(?:tests?|errors?|outputs?|answers?|results?|functions?|code|bug)|something|someone)\b)
        (?:[\w'-]+\ ){1,7}?(?:(?:must|may|can)\ (?:never|not|only|always)\ \w+|(?:must|ha(?:s|ve)\ to|needs?\ to|is\ to|are\ to|shall)\ be\ \w+(?:ed|en|wn|pt|nt|ld|ught|ade|one)|must\ (?!be\b|have\b)\w+)\b.*"""
    ),
    # "The staging database gets wiped every night."
    _re(
        rf"(?:the|our|my|all|every|each)\ (?!(?:\w+\ ){{0,3}}(?:error|bug|test|function|output|answer|movie|film|train|bus|{_EN_PIECE})\b)(?:[\w'&./+-]+\ ){{1,5}}?(?:gets?|is|are|goes|go|comes|come|needs?|keeps?|takes?|hangs?|returns?|meets?|has|have)\ {_EN_MOOD}\S.*{_WHEN}.*"
    ),
    # "Variable names in this project are in Spanish."
    _re(
        rf"(?!(?:you|it|this|that|they|he|she|there|what)\b)(?:[\w'-]+\ ){{1,4}}?{_EN_OURS}\ (?:is|are|has|have|must|may|can\ only|follows?|uses?|comes?|goes?|runs?|costs?|stays?|needs?)\ {_EN_MOOD}\S.*"
    ),
    # "Lunch is at noon."
    _re(
        rf"(?!(?:you|it|this|that|they|he|she|we|i|there|here|what|error|(?:\S+\ ){{0,2}}(?:movie|film|train|bus|bug|error))\b)(?:[\w'-]+\ ){{1,5}}?(?:is|are|starts?|ends?|begins?|opens?|closes?|runs?|happens?|meets?|falls?|renews?|expires?)\ (?:always\ |now\ |only\ )?(?:at|on|from|every|until|in|before|after|by)\ (?!least|most|first\b)(?=.*{_WHEN}).*"
    ),
    # "Don't book anything before ten."
    _re(
        rf"(?:please\ )?(?:don't|do\ not|never|only)\ (?:call|text|e?-?mail|contact|book|schedule|plan|invite|message|ping|disturb|phone|ring|deploy|merge|ship|release|order|deliver)\ .*{_WHEN}.*"
    ),
    # "Only Henrik may push.", "Pollen knocks me out from April to June."
    _re(
        r"only\ (?!(?:if|when|the\ (?:first|last|second)|one|a\b|an\b)\b)(?:\w+\ ){1,4}?(?:may|can|is\ allowed|are\ allowed|ha(?:s|ve)|gets?|knows?)\ (?!you|it\b|this|that)\w+.*"
    ),
    _re(
        rf"(?!(?:you|it|this|that|they|he|she|which|the\ (?:error|code|page|app|script))\b)(?:[\w'-]+\ ){{1,4}}?\w+s\ (?:me|us)\ .*{_WHEN}.*"
    ),
    _re(
        rf"(?!(?:you|it|this|that|they|he|she|we|i|there|(?:\S+\ ){{0,2}}(?:princess|prince|detective|wizard|knight|king|queen|witch|ghost|monster|hero|dragon|{_EN_PIECE}))\b)(?:[\w'-]+\ ){{1,4}}?(?:lives?|belongs?|resides?)\ (?:in|on|under|at|to|inside|next\ to)\ (?:the|our|my)\ \w+.*"
    ),
    _re(
        r"i\ (?:do|run|keep|take|give|hold)\ (?:the|an?|some|most\ of\ the|all\ the)\ (?!same|test|code|script|query|list|look|step|file)\w+(?:\ \w+){0,3}\ (?:at|for|in)\ (?:an?|our|my|the)\ (?!moment|code|file|script|text|list|same|second|first)\w+.*"
    ),
    # "CI takes twenty minutes.", "HR sends the payslips on the 25th."
    _re(
        rf"(?-i:[A-Z]{{2,6}})\ (?:takes|runs|sends|signs|handles|approves|needs|costs|closes|opens|reviews|owns|pays|checks|requires|expires|renews|rotates|meets|does)\ (?:about\ |around\ |up\ to\ |at\ (?:least|most)\ |roughly\ )?{_EN_THING}\S+.*"
    ),
    # "We log everything to Grafana.", "Anything above 200 dollars goes through Marta."
    _re(
        r"we(?:\ (?:always|only|never|usually))*\ [a-z]+(?<!ed)(?<!ing)\ (?:everything|(?:all|every|each|only|our)\ \w+|\w+s)\ (?:in|to|on|with|via|through|from|by|at|for|into|per)\ (?!you\b|it\b|that\b|this\b)\S.*"
    ),
    _re(
        r"(?!.*\b(?:comma|parser|compiler|line|output)\b)(?:anything|everything|whatever|whoever|anyone|everyone|those|(?:one|two|three|most|half|many|none|all|both|each)\ of\ (?:us|our|my))\ (?!(?:is|was|were|are|else)\b)(?!.*\b(?:you|error|code)\b)(?:\S+\ ){1,7}?(?:goes|go|needs?|must|has\ to|have\ to|gets?|requires?|costs?|counts?|comes?|works?|speaks?|lives?|pays?|uses?|takes?|eats?|drinks?|drives?)\ \S.*|(?:one|two|three|most|half|many|none|all|both|each)\ of\ (?:us|our\ \w+|my\ \w+)\ (?!think|know|believe|like|want|was|were|did|had|agree)[a-z]+\ \S.*"
    ),
    # "Branches are named after the ticket number."
    _re(
        rf"(?!(?:you|they|we|these|those|there|things|people|results|errors|numbers|values|users|elements|items|lines|words|(?:\S+\ ){{0,2}}{_EN_PIECE})\b)(?:[\w'-]+\ ){{0,5}}?\w+(?<!s)s\ (?:are|get)\ (?:always\ |never\ |only\ |not\ )?(?!confused|bored|tired|broken|supposed|used\ to)\w+(?:ed|en|wn|pt|nt|ld|ught)\ (?:after|by|in|at|on|to|for|from|with|every|once|twice|via|through|as|per|before|within|until|only|automatically|manually|weekly|daily|monthly|yearly|annually)(?:\ |$)(?!me\b|you\b|this|that|it\b).*"
    ),
    _re(
        r"i\ (?:always\ |often\ |sometimes\ |easily\ )?(?:get|have|suffer\ from)\ (?:\w+\ ){0,2}?(?:migraines?|hives|rash(?:es)?|cramps|seizures|panic\ attacks|nosebleeds|asthma|vertigo|dizzy|carsick|seasick|airsick|hay\ fever|allerg\w+|insomnia|tinnitus|cataracts|arthritis|back\ pain)\b.*"
    ),
    # "Every channel has an owner.", "Commits without a ticket get rejected."
    _re(
        rf"(?:every|each)\ (?!(?:time|\w*\ ?{_EN_PIECE})\b)(?:[\w-]+\ ){{1,4}}?(?:has|needs|gets|must\ have|costs|comes\ with|belongs\ to)\ (?:an?|its|the|at\ least|exactly|one|two|three|our|their)\ (?!error|bug|typo)\w+.*"
    ),
    _re(
        rf"we\ (?:don't|do\ not|never)\ (?!(?:know|need|have|want|think|see|understand|get|care|mind|agree|remember)\b)\w+\ .*(?:{_EN_OURS}|{_WHEN}|\bwithout\b).*"
    ),
    _re(
        rf"(?!(?:you|they|we|these|those|(?:\S+\ ){{0,2}}{_EN_PIECE})\b)(?:[\w'-]+\ ){{0,2}}?\w+(?<!s)s\ (?:without|with|over|above|under|below|from|older\ than|before|after|outside|for)\ .*\ (?:are|get)\ (?:always\ |never\ |not\ )?\w+(?:ed|en)$"
    ),
    _re(
        r"(?:i|we)(?:'ve|\ have)\ (?:given\ up|sworn\ off|cut\ out|cut\ down\ on|taken\ up|signed\ up\ for|joined|inherited|rented|retired\ from|switched\ to|converted\ to)\ (?!it\b|that\b|this\b|you)\S+.*"
    ),
    _re(
        rf"(?-i:[A-Z])\w+'s\ (?:\w+\ ){{1,4}}?(?:needs?|takes?|gets?|starts?|ends?|comes?|goes|go|is|are|has|have)\ .*{_WHEN}.*"
    ),
    _re(
        r"(?!(?:this|that|it|he|she|they|you)\b)(?:[\w'-]+\ ){1,6}?(?:makes?|brings?|leaves?|gives?|puts?|turns?)\ me\ (?:\w+\ ){0,4}?(?:dizzy|drowsy|sleepy|sick|nauseous|ill|faint|breathless|rash|hives|spots|cough|sneeze|wheeze|itch|migraines?)\b.*"
    ),
    # "Gluten gives me stomach cramps."
    _re(
        r"(?!(?:this|that|it|he|she|they|you)\b)(?:[\w'-]+\ ){1,4}?(?:gives?|cause[sd]?|triggers?|makes?)\ (?:me\ |my\ )(?:\w+\ )?(?:hives|a\ rash|rashes|cramps|migraines?|headaches|stomach|allerg\w+|asthma|sick|sleepy|itch\w*|swell\w*|reflux|heartburn|nausea|nauseous|panic\w*|blood)\b.*"
    ),
    # "My mum takes warfarin.", "My husband can't stand garlic."
    _re(
        rf"""{_EN_FAMILY}(?:\ and\ {_EN_FAMILY})?{_EN_ADV}\ (?:takes?|needs?|ha(?:s|ve)|ha(?:s|ve)\ to|can(?:'t|not)|doesn't|don't|eats?|drinks?|wears?|suffers?|goes|go|drives?|visits?|comes?|lives?|works?|attends?|turns?|speaks?|stud(?:ies|y)|starts?|graduates?|loves?|likes?|hates?|prefers?
        |plays?|sleeps?|teaches|teach|runs?|owns?|uses?|reads?|gets?|looks?\ after|(?:is|are)\ (?:both\ |also\ |now\ |severely\ |slightly\ )?(?:allergic|vegan|vegetarian|an?\b|the\b|\d|from|born|in\ (?-i:[A-Z])|due|pregnant|retired|deaf|blind|diabetic|lactose|gluten|coeliac|celiac|getting\ married|turning|called|autistic|dyslexic|bilingual|adopted|afraid|intolerant|on\ \w+|at\ \w+|doing\ (?:a|an|her|his|their))|was\ (?:born|diagnosed)|died|passed\ away|moved)\ (?!care\b|to\ know|a\ point|fun\b|it\b|that\b|mad|angry|sad|happy|tired|great|nice|sweet|funny|crazy|annoy\w+|driving\ me|being|right|wrong|you\b)\S.*"""
    ),
    # "I had my gall bladder removed in 2019.", "We moved into the new office in May."
    _re(
        rf"(?:i|we|{_EN_FAMILY})\ (?!(?:asked|tried|said|told|saw|read|wrote|ran|sent|got)\b)\w+(?:ed|[a-z]+)\ .*\b(?:in|since|on|last|until)\ (?:(?:early|late|mid)[\ -])?(?:(?:{MONTH})\b|(?:19|20)\d\d|(?:summer|winter|spring|autumn|year)\b)(?!.*\bversion\b).*"
    ),
    # "We keep all secrets in Vault.", "Dr. Patel is our family doctor."
    _re(
        r"we(?:\ (?:always|only|never|usually))*\ (?:keep|give|show|call|write|do|make|put|take|hold|review|rotate|back\ up|archive|log|track|book|order|test|build|merge|tag|name|send|share)\ (?:all|our|every|each|no|only|new|the\ \w+\ (?:in|on|to|at|every)|\w+s\ (?:in|on|to|at|with|from|every|before|after|as))\ .*\w"
    ),
    _re(
        r"(?-i:(?:Dr|Mr|Mrs|Ms|Prof)\.?\ [A-Z]\w+|[A-Z]\w+(?:\ [A-Z]\w+)?)\ (?:is|are)\ (?:our|my)\ (?!favou?rite)(?:\w+\ ){0,3}?\w+(?<!best)(?<!hero)(?<!life)$"
    ),
)
_EN_OUR_VERBS: Final = _re(
    rf"(?!(?:you|it|this|that|they|he|she|these|those|what|there)\b)(?:[\w'-]+\ ){{0,5}}?(?!(?:is|was|has|this|his|its|as|us|does)\b)\w{{2,}}(?<!s)s\ (?P<verb>[a-z]+(?<!s))(?=\ .*\b{_EN_OURS}[^,]{{0,12}}$)(?P<rest>\ \S.*)"
)
"""A habit of several people or things of the speaker's group."""
_EN_VERBS: Final = _re(rf"(?:i|we){_EN_ADV}\ (?P<verb>[a-z]+)(?P<rest>\ {_EN_THING}\S.*)")
_EN_HERE: Final = _re(rf"\b(?:this|these|those|your|you|here|{_EN_PIECE})\b")
"""What is here and now in a chat."""
_EN_NO_PRESENT: Final = _re(r"(?:ed|ly|(?<!^s)(?<!^br)(?<!^r)(?<!^sw)ing|ss)$")
_EN_HABIT: Final = _re(rf".*{_WHEN}")


def _is_english_habit(statement: str) -> bool:
    """Return whether the speaker says what they do: "I sing in a choir"."""
    match = _EN_VERBS.match(statement) or _EN_OUR_VERBS.match(statement)
    if match is None:
        return False
    verb = match["verb"].lower()
    if verb in _EN_TALK or verb in _PAST or _EN_NO_PRESENT.search(verb):
        return False
    if _EN_HERE.search(match["rest"]):
        return False
    return verb not in _EN_WORK or _EN_HABIT.match(match["rest"]) is not None


# German.

_DE_WHEN: Final = (
    rf"(?:\bjede[nrsm]?\ \w+|\btäglich|\bwöchentlich|\bmonatlich|\b(?:{DAYS})\b|\b\w+tags\b|\b\w+tag(?:vor|nach)mittags?\b|\bmorgens\b|\bmittags\b|\babends\b|\bnachts\b|\bvormittags\b|\bnachmittags\b|\bwerktags\b|\bam\ Wochenende\b"
    rf"|\b(?:um|ab|bis|vor|nach|gegen|seit)\ (?:\d|halb|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|mitternacht|ende|anfang|mitte|zum|meiner|{MONTH}|ostern|weihnachten|sommer)"
    rf"|\b(?:im|in\ den|ende|anfang|mitte|bis|seit)\ (?:{MONTH}|sommer|winter|frühling|herbst|januar|februar|juni|juli)\b|\b(?:19|20)\d\d\b|\d{{1,2}}\.\ ?(?:\d|{MONTH}|bis)|\d+\ Uhr|\bseit\ \w+|\bnächste[nrs]?\ (?:{MONTH}|Woche|Monat|Jahr|Sommer|Winter|Frühjahr|Herbst)|\b\w+woche\b|\bimmer\b|\bnie\b|\beinmal\ (?:die|im|pro|am))"
)
_DE_TALK: Final = (
    r"(?!(?:ahne|bekomme|bedanke|bitte|brauche|danke|denke|finde|frage|freue|fühle|glaube|grüße|habe|hab|hoffe|höre|kriege|liebe|mag|meine|melde|merke|möchte|nehme\ an|rate|sage|schätze|sehe|staune|suche|verstehe|vermute|vermisse"
    r"|versuche|verspreche|weiß|werde|will|wollte|wünsche|wundere|würde|zweifle|bin|war|hatte|wurde|kann|konnte|soll|sollte|muss|musste|darf|könnte|hätte|wäre|gehe\ davon|lasse\ mich|entschuldige|überlege|probiere|teste|bestätige|stimme|widerspreche|warte|antworte|schaue|gucke|sehe\ mir|lese\ mir)\b)"
)
_DE_WORK: Final = r"(?:ändere|beginne|benutze|entferne|ergänze|erstelle|exportiere|führe|füge|gebe|gehe|hänge|importiere|installiere|klicke|komme|kopiere|lade|lasse|lese|lösche|mache|nehme|öffne|packe|prüfe|schicke|schließe|schreibe|sende|setze|speichere|starte|stelle|tausche|tippe|tue|übergebe|verschiebe|wähle|wechsle|ziehe|zeige)\b"
_DE_THING: Final = r"(?!(?:das|es|dies\w*|ihn|sie|dich|dir|Ihnen|deine?\w*|mal|dann|jetzt|kurz|doch|ja|gleich|noch\ (?:einmal|mal|immer))\b)"
_DE_CHAT: Final = r"(?!jedes\ Mal\b)(?!.*\bin\ (?:Python|Java\w*|Rust|SQL|Excel|HTML)\b)(?!.*\b(?:Komma\w*|Parser|Compiler|Argumente|Parameter|Listen|Eingabe|Text|Bild|Spalten?|Referenz|Beispiel|Aufgabe|Übung|Absatz|Satz|Überschrift|Formel|Seite|Zeile|Schritt|Element\w*|Bildschirm|Chat|Gespräch|du|dir|dich|dein\w*|Ihnen|Fehler|Fehlermeldung|Code|Skript|Datei|Ausgabe|Antwort|Funktion|Tippfehler|Absatz)\b)"
_DE_FIRST_T: Final = r"(?:(?:be|ver|er|unter|ent)?(?:arbeite|leite|biete|halte|miete|walte|rate|trete|richte|warte)|starte|leiste|teste|reite|faste|bete)"
"""Verbs whose present tense looks like a past tense."""
_DE_STEM_T: Final = r"(?:arbeiten|starten|leiten|bieten|kosten|halten|enthalten|verwalten|mieten|leisten|beraten|gelten|treten|vertreten|testen|bearbeiten|erhalten|warten)"
_GERMAN_SHAPES: Final = (
    # "Ich singe donnerstags im Chor."
    _re(
        rf"ich\ {_DE_TALK}(?!.*\b(?:herum|rum|zu\ (?:viel|schnell|wenig|spät|oft|langsam)|Formel|Absatz|Satz|Zeile|Frage|Fehler|Text|Seite\ \d+)\b)(?:(?!{_DE_WORK})(?:(?-i:[a-zäöü])\w*(?<!t)e|{_DE_FIRST_T})\ {_DE_THING}\S+(?:\ \S+)?.*|{_DE_WORK}\ {_DE_THING}.*{_DE_WHEN}.*)"
    ),
    # "Ich darf kein Ibuprofen nehmen.", "Freitagnachmittags kann ich nicht."
    _re(
        rf"(?:ich|wir)\ (?:darf|dürfen)\ {_DE_THING}{_DE_CHAT}(?:\S+\ )*?(?:kein\w*|nicht|nur|nie)\b.*|(?:ich|wir)\ (?:kann|können|muss|müssen|soll|sollen|darf|dürfen)\ {_DE_THING}{_DE_CHAT}.*{_DE_WHEN}.*"
    ),
    _re(
        rf"(?:ich|wir)\ (?:bin|sind)\ {_DE_THING}{_DE_CHAT}(?=.*{_DE_WHEN})(?:\S+\ ){{0,7}}?(?:in\ (?:Elternzeit|Rente|Kur|Reha|Teilzeit|Therapie|Ausbildung|(?-i:[A-ZÄÖÜ])\w+)|im\ \w+|(?:nicht\ )?(?:erreichbar|verfügbar|unterwegs|verreist|abwesend|da|weg|zu\ Hause|krankgeschrieben)|auf\ \w+|beim?\ \w+)\b.*"
    ),
    _re(
        rf"(?:ich|wir)\ (?:habe|haben|bin|sind)\ {_DE_CHAT}(?=.*(?:seit\ (?!gestern|heute|eben)\w+|\b(?:19|20)\d\d\b|\b(?:im|seit)\ (?:{MONTH})\b|(?:Diabetes|Asthma|Epilepsie|Migräne|Rheuma|Bluthochdruck|Höhenangst|Flugangst|Neurodermitis|Heuschnupfen|Herzschrittmacher))).*"
    ),
    _re(
        r"ich\ (?:höre|sehe|schlafe|vertrage|rieche|laufe)\ (?:\S+\ ){0,5}?(?:schlecht|schwer|nicht|kaum|kein\w*)$"
    ),
    _re(
        r"(?:ich|wir)\ ernähren?\ (?:mich|uns)\ .*|(?:ich|wir)\ (?:wohnen?|leben?|arbeiten?|lernen?|studieren?|machen?\ eine)\ .*"
    ),
    # "Bei uns gibt es sonntags kein Fernsehen.", "In unserem Team sind zwölf Leute."
    _re(
        rf"""{_DE_CHAT}(?!es\b|sie\b|er\b|das\b(?!\ (?-i:[A-ZÄÖÜ])))(?=.*\b(?:bei\ uns|von\ uns|(?:in|an|auf|für|aus|von|mit)\ unser\w+|in\ diese[mr]\ (?:Projekt|Team|Haus|Firma|Büro|Verein|Repo\w*|Laden|Abteilung)|im\ (?:Team|Projekt|Büro|Haus|Verein|Unternehmen|Betrieb|Laden|Werk)|in\ der\ (?:Firma|Abteilung|Familie|Praxis|Kanzlei|Schule|Wohnung|Küche))\b)
        (?!.*\b(?:war|waren|hatte|hatten|wurde|kam|ging|funktioniert\w*|fehlt|lief|toll|super|schön|gut|schlecht)\b)(?:\S+\ ){{3,}}\S+"""
    ),
    _re(
        r"es\ gibt\ (?=.*\b(?:bei\ uns|unser\w*|mein\w*)\b).*|(?:im|in\ \S+)\ \S+\ gilt:?\ \S+.*|es\ gilt:\ \S+\ \S+.*"
    ),
    # "Ohne Frühstück bekomme ich Migräne.", "Alles über 200 Euro geht an Marta."
    _re(
        r".*\b(?:mir|mich|ich|meine?)\b.*\b(?:Ausschlag|Migräne|Atemnot|Bauchweh|Bauchschmerzen|Magenschmerzen|Juckreiz|Asthmaanf\w+|Nasenbluten|übel|schwindlig|reisekrank|seekrank|schwell\w+|juck\w+|trän\w+|allergisch|Heuschnupfen|Tinnitus|Rückenschmerzen)\b.*"
    ),
    _re(
        r"(?!.*\b(?:Komma|Parser|Zeile|Fehler|Text)\b)(?:alles|was|wer)\ (?:über|unter|ab|ohne|mit|nach|vor|bis|aus)\ (?:\S+\ ){1,6}?(?:geht|muss|braucht|läuft|kommt|wird|gilt|zahlt|kostet|darf|bleibt|landet)\ \S.*"
    ),
    _re(
        rf"{_DE_CHAT}(?-i:[A-ZÄÖÜ])\w+(?:n|e|er|s)\ {_DE_STEM_T}\ (?!mir\b|mich\b|dich\b|dir\b)\S+\ .*\S"
    ),
    _re(
        rf"(?:ich|wir)\ (?:habe|haben)\ {_DE_THING}{_DE_CHAT}(?=.*(?:\bjede\w\ \w+|\b\w+tags\b|\bimmer\b|\bwerktags\b))(?!.*\b(?:ge\w+(?:t|en)|\w+iert|(?:ver|be|er|ent)\w+t)$).*"
    ),
    # "Schichtübergabe ist um 6 Uhr.", "Jeder Kanal hat einen Verantwortlichen.", "Ab tausend Euro ..."
    _re(
        rf"{_DE_CHAT}(?!(?:die|der|das|ein|eine|er|sie|es|dies\w*)\b)(?-i:[A-ZÄÖÜ])[\w-]+(?:\ (?-i:[A-ZÄÖÜ])\w+)?\ (?:ist|sind|beginnt|endet|startet|findet|fällt|läuft)\ (?:immer\ |nur\ )?(?=(?:um|am|ab|bis|von|jede\w|im)\b)(?=.*{_DE_WHEN}).*"
    ),
    _re(
        rf"{_DE_CHAT}jede[rs]?\ (?!Mal\b)\S+(?:\ \S+){{0,2}}?\ (?:hat|bekommt|braucht|kriegt|kostet|gehört)\ (?:eine?n?|zwei|drei|mindestens|höchstens|seine?n?|ihre?n?|zu)\ \S.*"
    ),
    _re(
        rf"{_DE_CHAT}(?:ab|über|unter|bis)\ \S+\ (?:Euro|Franken|Dollar|Tag\w*|Stunden|Personen|Prozent|Kilo|Jahren|Grad)\ (?-i:[a-zäöü])\w+\ .*"
    ),
    _re(
        rf"{_DE_CHAT}(?-i:[A-ZÄÖÜ])\w+(?:n|e|er|s)\ (?:ohne|mit|über|unter|ab|von|für|aus|nach|vor)\ (?:\S+\ ){{1,4}}?(?:werden|bleiben)\ (?:\S+\ )?(?-i:[a-zäöü])\w+(?:t|en)$"
    ),
    # "Um die Verträge kümmert sich Kerstin.", "Spesen ohne Beleg werden nicht erstattet."
    _re(
        r"um\ .*\ kümmer(?:t|n)\ sich\ (?:Frau|Herr|unser\w*|mein\w*|die|der|das|(?-i:[A-ZÄÖÜ]))\S*.*|(?:für|bei)\ .*\ (?:ist|sind)\ .*\b(?:zuständig|verantwortlich)$"
    ),
    _re(
        rf"{_DE_CHAT}(?!(?:\S+\ ){{0,2}}Tests?\b)(?:\S+\ ){{0,2}}?(?-i:[A-ZÄÖÜ])\w+(?:n|e|er|s)(?:\ (?:ohne|mit|über|unter|ab|bis|von|für|aus|nach|vor|im|in|am)\ (?:\S+\ ){{0,3}}?\S+)?(?:,\ (?:die|der|das|deren)\ [^,]+,)?\ werden\ (?!ich\b|wir\b|Sie\b)(?:\S+\ ){{1,7}}?(?-i:[a-zäöü])\w+(?:t|en)$"
    ),
    _re(
        rf"{_DE_CHAT}(?!(?:die|der|eine|meine|deine|unsere|alle|diese|keine)\b)(?-i:[A-ZÄÖÜ])\w+(?:er|e|en|s)\ (?-i:[A-ZÄÖÜ])\w+(?:n|e|er|s)\ (?:bekommen|brauchen|zahlen|bezahlen|erhalten|gehen|kommen|laufen|liegen|gelten|haben|müssen|dürfen)\ (?!mir\b|mich\b|dich\b)\S+\ .*\S"
    ),
    # "Nur Henrik darf auf den Hauptzweig pushen.", "Von April bis Juni setzt mir der Pollenflug zu."
    _re(
        r"nur\ (?!(?:wenn|so|mal|noch|kurz|ein\w*|zur)\b)(?:\S+\ ){1,4}?(?:darf|dürfen|kann|können|hat|haben|bekommt|weiß)\ (?!ich\b|du\b|das\b|es\b)\S.*"
    ),
    _re(
        rf"{_DE_CHAT}(?!(?:er|sie|es|das|dies\w*|kann\w*|könn\w*)\b)(?=.*\b(?:mir|mich)\b)(?=.*(?:\bjede[nrsm]?\ \w+|\b\w+tags\b|\b(?:im|von|ab|bis|seit)\ (?:{MONTH})\b|\bim\ (?:Sommer|Winter|Herbst|Frühling)\b|\b(?:nachts|morgens|abends|mittags)\b)).*"
    ),
    # "Keine Besprechungen nach 16 Uhr."
    _re(
        r"(?:bitte\ )?kein\w*\ (?!Problem|Ahnung|Sorge|Eile|Lust|Frage|Wunder|Stress|Grund|Thema|Plan\b|Fehler|Antwort|Änderung|Unterschied|Angst|Zeit|Idee|Chance|Ergebnis|Ausgabe|Hinweis)(?-i:[A-ZÄÖÜ])\w+(?:\ \w+){0,3}?\ (?:nach|vor|in|im|am|an|auf|bei|ohne|während|unter|über|zwischen|bis|für|mit)\ (?!mir|dir|mich|dich|diese)\S.*"
    ),
    # "Jede Änderung muss von der Sicherheit geprüft werden."
    _re(
        rf"(?!(?:ich|du|er|sie|es|das|dies\w*|man|wir)\b){_DE_CHAT}(?!(?:\S+\ ){{0,2}}Tests?\b)(?:\S+\ ){{0,6}}?(?-i:[A-ZÄÖÜ])\S*(?:\ \S+){{0,3}}?\ (?:muss|müssen|darf|dürfen|sind|ist)\ (?:\S+\ ){{0,7}}?(?:\w+\ werden|zu\ \w+en|nie\ \w+|nur\ .*|nicht\ \w+en|verboten|erlaubt|vorgeschrieben|Pflicht|tabu|verpflichtend|untersagt|zuständig|verantwortlich)$"
    ),
    # "Montags arbeiten alle von zu Hause."
    _re(
        rf"{_DE_CHAT}(?=.*{_DE_WHEN})(?:\S+\ ){{1,4}}?(?:{_DE_STEM_T}|(?-i:[a-zäöü])\w+(?:[^t]en|t))\ (?:alle|niemand|keiner|jeder|der|die|das|unsere?)\ .*"
    ),
    _re(
        rf"(?:ein\w{{0,2}}|jede[rs]?|alle|der|die|das|unsere?|niemand|keiner|jeder)\ {_DE_CHAT}(?!(?:\S+\ )?(?:Film|Zug|Bus)\b)(?:\S+\ ){{0,4}}?(?:dauert|dauern|kostet|kosten|brauch\w+|umfasst|hat|haben|enthält|gilt|gelten|läuft|laufen|wiegt|verbraucht|liegt|liegen|hängt|steht|stehen|geht|gehen|kommt|kommen|macht|machen|bekommt|bekommen|wird|werden|\w+(?:iert|ieren))\ (?=.*(?:{_DE_WHEN}|\d|\b(?:zwei|drei|vier|fünf|sechs|zehn|zwölf|zwanzig|dreißig|neunzig|hundert|höchstens|mindestens)\b)).*"
    ),
    # "Meine Mutter nimmt Blutverdünner.", "Dr. Patel ist unser Hausarzt."
    _re(
        rf"(?:mein\w{{0,2}}|unser\w{{0,2}})\ (?:\w+\ )?(?:{GERMAN_FAMILY})(?:\ (?-i:[A-Z])\w+)?\ {_DE_CHAT}(?:nimmt|braucht|mag|isst|trinkt|trägt|verträgt|darf|kann|muss|hat|geht|fährt|lebt|bekommt|kriegt|leidet|arbeitet|studiert|spricht|besucht|kommt|wird|zieht|lernt|spielt|heiratet|feiert|nehmen|brauchen|mögen|essen|leben|wohnen|kommen|gehen|haben|sind|ist)\ (?!mir|mich|dir|gut|sauer|müde|traurig|böse|lieb|süß|genervt|recht\b)\S.*"
    ),
    _re(
        r"(?-i:(?:Dr|Prof)\.?\ [A-ZÄÖÜ]\w+|(?:Herr|Frau)\ [A-ZÄÖÜ]\w+|[A-ZÄÖÜ]\w+)\ ist\ (?:unser\w{0,2}|mein\w{0,2})\ (?:\w+\ ){0,2}(?!Held|Star|Traum|Ein)(?-i:[A-ZÄÖÜ])\w+$|.*\bist\ (?:Frau|Herr|Dr\.|(?-i:[A-ZÄÖÜ])\w+)\ (?:\S+\ )?(?:zuständig|verantwortlich)$"
    ),
    # "2019 wurde mir die Gallenblase entfernt."
    _re(
        rf"(?:(?:im\ (?:{MONTH}|sommer|winter|herbst|frühjahr)\ )?(?:19|20)\d\d|im\ (?:{MONTH})|vor\ \w+\ Jahren)\ \w+\ (?:ich|wir|mir|mich|uns|mein\w*|unser\w*)\ .*"
    ),
    _re(
        rf"wir\ (?!haben\b|sind\b|waren\b|hatten\b|wurden\b|möchten\b|wollen\b|brauchen\b|könnten\b|sollten\b|würden\b|sehen\b|wissen\b){_DE_THING}{_DE_CHAT}\w+en\ .*(?:{_DE_WHEN}|nicht\ mehr|immer|nur|kein\w*)\b.*"
    ),
    _re(
        r"(?:wir|ich)\ (?:haben|habe)\ (?!.*\b(?:Text|Absatz|Code)\b)(?:\S+\ ){1,10}?(?:gekündigt|unterschrieben|gekauft|verkauft|gemietet|geerbt|gebrochen|adoptiert|gegründet|aufgehört|angefangen|abgewöhnt|aufgegeben|angeschafft|geheiratet)$|(?:ich|wir)\ (?:bin|sind)\ (?:\S+\ ){1,8}?(?:gezogen|umgezogen|ausgezogen|eingezogen|umgestiegen|gewechselt|beigetreten|ausgetreten)$"
    ),
)
_DE_INVERTED: Final = _re(
    r"""(?P<front>(?!(?:dann|so|jetzt|da|hier|dort|es|was|wie|wo|wer|wann|warum|welche\w*|damit|dafür|darum|deshalb|daher|dabei|also|nun|vielleicht|bei\ mir|leider|trotzdem|danach|davor|davon|dazu|daran|bitte|gerne?|natürlich
    |gestern|heute|eben|vorhin|sonst|wieso|ob|wenn|dass|hallo|ok|okay|und|aber|oder|denn|ja|nein)\b|das\ (?!(?-i:[A-ZÄÖÜ]))|(?:den|die|diesen|diese)\ (?:Vorschlag|Antwort|Frage|Idee|Variante|Satz|Absatz|Fehler))
    (?:\S+\ ){0,6}?\S+)\ (?P<verb>(?-i:[a-zäöü])\w+)\ (?P<who>ich|wir)(?:\ (?P<rest>.+))?$"""
)
"""A German main clause whose subject follows the verb: "Seit 2019 lebe ich in Wien"."""


_EN_FRONTED: Final = _re(
    rf"""(?P<front>(?:after|before|since|during|in|on|at|by|until|from|every|following|due\ to|because\ of|last|next)\ (?!(?:paper|theory|practice|principle|this|that|it|fact|general|short|case|first|least|all|any|addition|other|particular|conclusion|contrast|the\ other|the\ end|my\ opinion|my\ view)\b)
    (?!.*\b{_EN_PIECE}.*,)[^,]{{3,60}}?),?\ (?P<clause>(?:i|we|my|our)\b.+)"""
)
"""An English clause with a time or place in front: "Since 2019 I live in Vienna"."""


def in_plain_order(statement: str) -> str:
    """Return a clause with its subject in front, as patterns expect it.

    Args:
        statement: The clause.

    Returns:
        "ich lebe seit 2019 in Wien" for "Seit 2019 lebe ich in Wien"; the clause itself if its
        subject is in front.
    """
    if match := _DE_INVERTED.match(statement):
        parts = (match["who"], match["verb"], match["front"], match["rest"] or "")
        return " ".join(part for part in parts if part)
    if match := _EN_FRONTED.match(statement):
        return f"{match['clause']} {match['front'][:1].lower()}{match['front'][1:]}"
    return statement


# Chinese.

_ZH_DIGIT: Final = r"[\d一二两三四五六七八九十百]"
_ZH_WHEN: Final = rf"(?:每(?:天|周|个?月|年|晚|早|隔|次|逢|个)|周[一二三四五六日末]|星期[一二三四五六日天]|{_ZH_DIGIT}+(?:点|号|日|月)|\d{{4}}年|{_ZH_DIGIT}+个?(?:天|小时|分钟|月|星期|周|年)|月底|年底|[上中下]旬|早上|上午|中午|下午|晚上|凌晨|平日|工作日|周末|早晚|饭[前后]|睡前|以前|之前|以后|去年|前年|明年|下个?月|从小|从来)"
_ZH_CHAT: Final = r"(?!把|帮|麻烦|将)(?!.*(?:例子|题目|屏幕|标题|文章|页面|句话|打字|公式|元素|警告|程序|图表|段落|单词|提示词))(?!我?们?的?(?:朋友|同事|老板|邻居|同学|室友))(?!.*(?:你|您|报错|报.{0,5}错|错误|出错|试过|试了|(?:这段|我的|上面的)代码|代码(?:里|有|不|没|在)|脚本|函数|变量(?!名)|输出|按钮|附件|那段|这段|第[一二三四五\d]+[步段行个]|错字|逗号|回答|答案|消息|电影|感觉|没看懂|得很|得特别))"
_ZH_NOW: Final = r"(?!.*(?:今天|昨天|昨晚|刚才|刚刚|现在|正在|等会|一会|马上))"
_CHINESE_SHAPES: Final = (
    # "我每天早上吃二甲双胍。", "周五下午我没空。"
    _re(
        rf"{_ZH_CHAT}{_ZH_NOW}(?:我(?!的问题|们(?:应该|可以|看))(?:们)?[^，]{{0,8}}{_ZH_WHEN}[^，]{{2,}}|{_ZH_WHEN}[^，]{{0,6}}(?:我|我们|咱们)(?!可以$)[^，]{{2,}})"
    ),
    # health
    _re(
        rf"{_ZH_CHAT}我(?:的|家)?[^，]{{0,10}}(?:过敏|糖尿病|高血压|低血糖|哮喘|听力|视力|近视|色盲|怀孕|手术|骨折|乳糖不耐|胃疼|起疹|失眠|起搏器|支架|助听器|假牙|假肢|轮椅|偏头痛|痛风|贫血|心脏病|恐高|晕车|晕机|忌口|戒烟|戒酒|清真|素食|左撇子)[^，]{{0,12}}"
    ),
    _re(
        rf"{_ZH_CHAT}我{_ZH_WHEN}?(?:不能|不可以|不许|不准|不得|没法|必须|得|要|只能)[^，]{{2,}}(?:因为|医生).*"
    ),
    _re(
        rf"{_ZH_CHAT}我(?:从小|天生|一吃|一喝|一闻|害怕|怕|戴|患|做过|当过|负责|受不了|闻不了|喝不了|吃不了|吃不惯|休|租|合租|住|教|当|写|管|养|练|学(?!到|会了)|弹|拉|打)(?!第|这|那|了(?!不)|一下)[^，]{{2,}}"
    ),
    # family
    _re(
        rf"{_ZH_CHAT}{_ZH_NOW}我(?:的|家)?(?:{CHINESE_FAMILY})(?!.*(?:生气|开心|高兴|难过|烦|真|太|可爱|搞笑|想让|让我|叫我|要我))(?:们)?[^，]{{2,}}"
    ),
    # "我在杭州的一家医院当护士。"
    _re(
        rf"{_ZH_CHAT}{_ZH_NOW}我[^，]{{0,6}}在[^，]{{2,16}}(?:当|做|任|教|开|读|学|上|工作|办公|实习|值班)[^，]{{1,}}"
    ),
    _re(rf"{_ZH_CHAT}我(?:平时|平常|一般|通常|经常|总是|一直|从不|从来不|基本)[^，]{{3,}}"),
    _re(
        rf"{_ZH_CHAT}我们?(?:的|家的?|租的|住的|开的|买的|养的|领养的|订的|用的)(?!问题|意思|想法|建议|看法|头)[^，]{{2,12}}(?:是|在|叫|要|会|到期|不让|不能|没有|有|需要|放在|停在|归|用)[^，]{{2,}}"
    ),
    # rules
    _re(
        rf"{_ZH_CHAT}(?!这|那|它|测试(?!环境|服务器|库|组|团队|数据))[^，]{{2,16}}(?:必须|不得|不准|不许|禁止|严禁|一律|只能|不可以|规定|统一|都要|都得|要经过|需要经过|才能|谁都不能|不让|不再|不加班|不开会|不上线|不发(?:布|版))(?!打开|运行|加载|显示)[^，]{{0,}}"
    ),
    _re(
        rf"{_ZH_CHAT}(?:没有|没经过|未经)[^，]{{2,8}}?(?:谁都|任何人)?不(?:能|得|许|准|可以)[^，]{{2,}}"
    ),
    # "青霉素我不能用。", "来我家做客要脱鞋。", "供应商合同由小郑处理。"
    _re(
        rf"{_ZH_CHAT}[^，我这那]{{2,8}}我(?:都|也|从来|一点都?|一口都?)?(?:不能[用吃喝碰闻穿坐养]|吃不了|喝不了|闻不了|不吃|不喝|不碰|过敏)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}[^，]{{0,4}}(?:我家|我们(?:家|公司|团队|组|店|学校|小区|楼|单位|办公室|这里))[^，]{{0,8}}(?:要|得|必须|不|都|只|先|才)(?!行$|好$)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，你我他她这那]{{2,14}}(?:不予|概不|恕不|不报销|不退|不接单|不外借|不对外)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}(?:这个|本|咱)(?:项目|团队|仓库|公司|系统|小区|部门|店)(?:的|里)?[^，]{{2,10}}(?:用|是|要|必须|采用|放在|只|不)(?!对)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，我你他她这那]{{2,10}}(?:按|以|用|通过|走|凭)[^，]{{1,8}}(?:结算|计费|付款|支付|开票|交付|发货|计算|命名|收费|进门|入场|登录|管理|部署|发放)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}[^，你他她这那]{{2,10}}(?:由|归)[^，]{{2,8}}(?:处理|跟进|对接|保管|签|写|维护|审核|照顾|接送|安排|采购|打理)[^，]*"
    ),
    _re(rf"{_ZH_CHAT}{_ZH_NOW}我们?(?:坐|乘|骑|开|走路)[^，]{{0,8}}(?:通勤|上班|上学|回家)[^，]*"),
    _re(
        rf"{_ZH_CHAT}[^，]{{0,8}}{_ZH_WHEN}[^，]{{0,6}}(?:别|不要|请勿|请不要)(?:给我|给我们|在|安排|打|发|联系|找|约|叫)[^，]{{1,}}"
    ),
    _re(rf"{_ZH_CHAT}我(?:只要)?一(?!点就|运行|打开|按|启动|看)[^，]{{1,8}}就[^，]{{1,}}"),
    _re(
        rf"{_ZH_CHAT}我(?:的)?(?:身高|体重|鞋码|血型|属|时区|手机号|邮箱|工号|学号|车牌)[^，]{{1,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，我你他她这那]{{2,10}}(?:全都|全部|都|一律|统统)(?:进|放|存|写|发|走|用|在|归|交|锁|停)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，你他她这那]{{0,6}}(?:超过|{_ZH_DIGIT}+[^，]{{0,3}}(?:以上|以下|以内|以外))[^，]{{1,10}}(?:先|要|得|需|找|问|由|归|必须|免|打|算|会|将)[^，]{{1,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，我你他她这那]{{2,10}}(?:打{_ZH_DIGIT}+折|免费|免运费|免押金|包邮|半价|收[^，]{{1,6}}费)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}(?!代码|程序|函数|这|那|它)[^，我你他她]{{2,8}}(?:要|需要?|得|须)(?:提前|先|经|凭|带|交)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，这那]{{2,10}}我(?:们)?(?:从来不|从不|一律不|都不|一概不|绝不|只)[^，]{{1,}}"
    ),
    _re(rf"{_ZH_CHAT}只有[^，]{{1,8}}(?:能|可以|有权|才能?)[^，]{{2,}}"),
    _re(rf"{_ZH_CHAT}{_ZH_NOW}(?:孩子们?|老人|家里的?)[^，]{{0,6}}{_ZH_WHEN}[^，]{{2,}}"),
    _re(
        rf"{_ZH_CHAT}{_ZH_DIGIT}+个?(?:天|小时|分钟|个月|月|周|年)(?:之?内|以内|之?后)(?:可以?|能|要|得|须|必须|免费|自动)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}[^，这那它]{{2,12}}?(?:会)?(?:让|使|害得?)我[^，]{{0,6}}(?:头晕|难受|拉肚子|恶心|起疹|打喷嚏|咳嗽|发痒|犯困|过敏|失眠|头疼|胃疼|呕吐)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}我(?:靠[^，]{{2,}}|以[^，]{{2,10}}为[生业]|把[^，]{{1,6}}(?:戒|停|辞|退|卖)了|(?:和|跟|与)[^，]{{1,8}}(?:共用|合租|合住|合开|同住|搭档|轮流|分担|住在?一起|结婚|离婚)[^，]*)"
    ),
    _re(rf"{_ZH_CHAT}(?:没有|未)[^，]{{1,8}}的[^，]{{1,6}}(?:会被|将被|不|一律|都)[^，]{{1,}}"),
    # dates and durations
    _re(
        rf"{_ZH_CHAT}(?!这|那|它|地球|水|太阳|火车)[^，我]{{2,14}}?{_ZH_WHEN}[^，]{{0,8}}(?:到期|截止|过期|提交|交|上线|开始|结束|举行|召开|开会|发版|发布|续签|交付|付款|付清|关门|开门|营业|更换|清理|备份|重置|更新|拿出去|送达|送货|出发|开学|放假|盘点|结账|对账|审核|停机|维护|值班|不开|休息|轮休|检修|停水|停电)[^，]{{0,10}}"
    ),
    _re(
        rf"{_ZH_CHAT}(?!这|那|它)[^，我]{{2,12}}(?:大概|大约|至少|最多|不超过)?(?:要|需要|花|用|占)[^，]{{0,4}}?{_ZH_DIGIT}+[^，]{{1,6}}"
    ),
    # groups
    _re(
        rf"{_ZH_CHAT}{_ZH_NOW}(?:我们的?|咱们的?)?(?:我们|咱们|公司|团队|部门|办公室|家里|店里|项目|学校|工厂|小组|仓库|诊所|系统)[^，]{{0,10}}(?:有|没有|不再|拒绝|推迟|取消|批准|同意|搬到|改用|换成|放弃|采用|总是|从不|不用|负责|规定|要求|支持|使用|实行|执行|实施|推行|遵循|配|发|放在|存在|归|由|轮流|一起|默认|禁)(?!问题|人说)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}(?!这|那|它)[^，我]{{2,10}}(?:的事情?|的问题|方面)?(?:都)?(?:找|联系|归|由)[^，]{{2,10}}(?:女士|先生|经理|主管|老师|组|部|团队|管|负责|审批|签字)[^，]*"
    ),
    _re(
        rf"{_ZH_CHAT}(?!这|那|它)[^，我你他她]{{2,10}}(?:放在|存放?在|锁在|停在|部署在|写在)[^，]{{2,}}"
    ),
    _re(
        rf"{_ZH_CHAT}(?!这|那|它)(?:所有|全部|每个|任何)[^，]{{2,10}}(?:都|放在|存在|必须|要|由|归|用)[^，]{{2,}}"
    ),
)


def is_of_own_world(statement: str, language: str) -> bool:
    """Return whether a clause is a lasting statement about the world of its speaker.

    Args:
        statement: The clause, without greetings and connectives.
        language: "en", "de" or "zh".

    Returns:
        Whether it is.
    """
    if language == "zh":
        return any(shape.match(statement) for shape in _CHINESE_SHAPES)
    if language == "de":
        return any(shape.match(statement) for shape in _GERMAN_SHAPES)
    return any(shape.match(statement) for shape in _EN_SHAPES) or _is_english_habit(statement)
