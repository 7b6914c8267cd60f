"""Recognise what is said of a household: family, home, health, pets and money at home.

"We" is a group that works together, or a couple and their children. What the second one says is for
its speaker alone, as "I" is. In doubt a text about a home is one of a household: a reviewer may
share it, while nobody takes back what others have read.
"""

from __future__ import annotations

import re
from typing import Final


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_WE: Final = _re(
    r"\b(?:we|we're|we've|we'll|we'd|us|our|ours|wir|uns|unser\w{0,2})\b|我们|咱|我家|家里"
)
"""The first person plural, without which most texts are not looked at any further."""

# English.

_KIN: Final = (
    r"(?:daughters?|sons?|boys?|girls?|kids?|child(?:ren)?|bab(?:y|ies)|toddlers?|newborn|twins|triplets|wife|wives|husbands?"
    r"|parents|mother|father|mum|mom|mommy|mummy|dad|daddy|grand(?:ma|pa|mother|father|parents?|child(?:ren)?|kids?|sons?|daughters?)"
    r"|brothers?|sisters?|siblings?|nephews?|nieces?|(?:step|god|foster)[\ -]?(?:son|daughter|child(?:ren)?|kids?)|in-laws"
    r"|(?:mother|father|sister|brother|son|daughter)-in-law|family|families|little\ (?:one|boy|girl)|teenagers?"
    r"|(?:youngest|eldest|oldest)(?:\ one)?(?=\s+(?:is|has|was|goes|likes|loves|started|turns))|marriage|wedding|honeymoon|divorce|pregnancy|nanny"
    r"|babysitter|childminder|p(?:a)?ediatrician|au\ pair|anniversary)"
)
_PET: Final = (
    r"(?:dogs?|pupp(?:y|ies)|cats?|kittens?|hamsters?|rabbits?|bunn(?:y|ies)|guinea\ pigs?|parrots?|budgies?|goldfish|tortoises?"
    r"|pony|ponies|horses?|chickens|hens|pets?|vet)"
)
_HOME: Final = (
    r"(?:house|home|flat|apartment|condo|cottage|household|(?:home\ )?address|(?:tele)?phone\ number|garden|backyard|kitchen|bedrooms?"
    r"|living\ room|landlord|landlady|rent|mortgage|neighbou?rs?|savings|joint\ account|(?:household|combined|joint|monthly)\ income|pension|debts|car)"
)
_HEALTH: Final = r"(?:allerg(?:y|ies)|doctor|gp|dentist|due\ date|diagnosis|illness|therapist|health|miscarriage|birthdays?|ivf)"
_NO_HOUSEHOLD: Final = (
    r"(?!(?:'s|s'|'|-)?[\ -](?:menus?|section|club|classes?|courses?|corner|clothes|collection|range|hospital|department"
    r"|business|plans?|tier|package|style|rules|band|music|wine|pages?|director(?:y|ies)|screen|servers?|games?|match(?:es)?"
    r"|stadium|ground|base|teams?|folders?|repos?|repositor(?:y|ies)|market|delivery|files?|rate|fee|structure|hierarchy"
    r"|design|books?|bar|space|format|fields?|validation|labels?|process(?:es)?|components?|themes?|nodes?|accounts?|api"
    r"|command|project|shop|stores?|food|policy|insurance\ product|site|compan(?:y|ies)|board|ship|app|apps|sitter|walkers?"
    r"|shifts?|pool|checks?|cent(?:re|er)s?|charity|rota|staff|furniture|toys?|products?|brands?|services?|customers?|clients?|lists?|table|lookup|records?|export|import|office|(?:is|of)\ (?:trade|origin))\b"
    r"|\ (?:[a-z]+\ )?(?:by|of)\ (?:products|apps|tools|services)|-)"
)
"""What follows such a word where it is one of a trade: "our house style", "our parent company"."""
_TRADE: Final = (
    r"(?:team|teams|office|offices|company|shop|store|department|firm|studio|agency|agencies|restaurant|hotel|café|cafe|clinic"
    r"|practice|school|nursery|kindergarten|university|church|club|guild|clan|raid|server|customers?|clients?|users?|staff"
    r"|employees|tenants|guests|patients|students|pupils|product|app|website|parent\ company|business|warehouse|lab)"
)
_OWN_ADJECTIVES: Final = rf"(?:(?!(?:{_TRADE})(?:'s|s')?\b)[\w'-]+\ ){{0,3}}?"
_AT_WORK: Final = _re(
    rf"\b(?:our|the)\ (?:\w+\ )?{_TRADE}\b|\b(?:at|in)\ work\b|\bcompany\b|\bfor\ (?:our\ )?(?:customers|clients|guests|tenants)\b"
    r"|\b(?:unser\w{0,2}|das|die|der|dem|den|im|vom|am|zum|beim)\ (?:Team|Büro|Firma|Laden|Geschäft|Abteilung|Praxis|Hotel|Restaurant|Schule|Kita|Verein|Gilde|Kunden|Agentur|Werkstatt)\b"
    r"|公司|团队|部门|办公室|门店|店里|学校|客户|用户|公会|服务器|同事"
)
"""Words of a place of work: there "our dog" and "our address" are those of the group."""
_HAVE: Final = (
    r"(?:have(?:\ got)?|'ve(?:\ got)?|had|got|get|keep|own|adopt(?:ed)?|are\ getting|'re\ getting|bought|are\ buying|'re\ buying|rent|rented|are\ renting"
    r"|'re\ renting|want|are\ having|'re\ having|are\ expecting|'re\ expecting|lost|are\ raising|'re\ raising"
    r"|are\ (?:looking|saving)\ for|'re\ (?:looking|saving)\ for|are\ adopting|'re\ adopting|sold|inherited|foster|are\ trying\ for|'re\ trying\ for)"
)
_SOME: Final = (
    r"(?:(?:an?|the|one|two|three|four|five|six|\d{1,2}|no|any|some|many|more|another|our|first|second|third|new|old|small|big|little|young|rescue|beautiful"
    r"|lovely|adult|grown(?:-up)?|teenage|baby|twin|black|white|[\w-]+-(?:year|month|week|bed|room|bedroom)(?:-old)?|both)\ ){0,4}"
)
_EVER: Final = r"(?:\ (?:also|now|just|all|both|still|already|currently|recently|really|always|finally|only|never|used\ to))*"
_OUR_KIN: Final = _re(
    rf"\b(?:our|unser\w{{0,2}})\ {_OWN_ADJECTIVES}{_KIN}(?:'s|'|s')?\b{_NO_HOUSEHOLD}"
    rf"|\bwe{_EVER}\ ?{_HAVE}\ {_SOME}(?:son|daughter|wife|husband|baby|toddler|newborn|twins|triplets|boys|girls|kids?|child(?:ren)?|sons|daughters"
    rf"|grand(?:child(?:ren)?|kids|son|daughter)|nanny|babysitter|(?:brothers?|sisters?|siblings?))\b{_NO_HOUSEHOLD}"
    r"|\bwe(?:'re|'ve|\ (?:are|were|got|have|have\ been|have\ just\ got|just\ got|will\ be|want\ to))"
    r"(?:\ (?:not|no\ longer|all|both|just|now|recently|been|getting|get|got|finally|happily))*"
    r"\ (?:married|divorced|engaged|pregnant|separated|expecting(?!\ (?:an?\ )?(?:delivery|growth|release|visitors|results))|broke)\b"
    r"|\bwe(?:'re|\ are)\ (?:\w+\ ){0,2}(?:getting\ a\ divorce|parents)\b|\bwe\ (?:pick|take|bring|drop)\b.{1,30}\b(?:from|to|at|off\ at)\ (?:school|kindergarten|nursery|daycare)\b|\bwe\ (?:broke\ up|split\ up|married|eloped)\b"
    r"|\bwe(?:'re|\ are|\ (?:both|all)\ are)(?:\ \w+){0,2}\ (?:vegan|vegetarian|allergic|intolerant|diabetic|celiac|coeliac|asthmatic|sick|infected|hiv)\b"
)
"""Family and bodies, wherever they are spoken of."""
_OUR_HOME: Final = _re(
    rf"\b(?:our)\ {_OWN_ADJECTIVES}(?:{_PET}|{_HOME}|{_HEALTH})(?:'s|'|s')?\b{_NO_HOUSEHOLD}"
    rf"|\bwe{_EVER}\ ?{_HAVE}\ {_SOME}(?:{_PET}|{_HOME}|{_HEALTH})\b{_NO_HOUSEHOLD}"
    rf"|\bwe(?:'ve|'re|\ have|\ are)?{_EVER}\ (?:live|lived|living)\ (?:in|at|on|near|with|together|next|close|by\ the)\b"
    rf"|\bwe{_EVER}\ (?:don't|do\ not|never|only)\ (?:eat|drink)\b|\bat\ our\ place\b"
    r"|\bwe(?:'re|\ are|'ve|\ have)?\ (?:moved|moving|move)\ (?:house|home|in\ together|into\ (?:a|an|our)\ (?:\w+\ ){0,2}(?:house|flat|apartment))\b"
)
"""A home, pets and birthdays; not where the sentence names a place of work."""

# German.

_DE_KIN: Final = (
    r"(?:T(?:o|ö)chter\w{0,5}|(?:S(?:o|ö)hn(?:e|en|es|chen)?)|Kind(?:er|ern|es)?|Kleinkind|Kleine[rn]?(?=\s+(?:ist|hat|heißt|geht|kommt|wird))"
    r"|(?:Älteste|Jüngste|Große)[rn]?(?=\s+(?:ist|hat|heißt|geht|kommt|wird))|Babys?|Zwillinge\w?|Drillinge|Ehe(?:mann|frau)?|Mann|Frau(?!\ [A-ZÄÖÜ])"
    r"|(?:Groß|Schwieger)?(?:eltern|mutter|vater)|Eltern|Mutter|Vater|Mama|Papa|Omas?|Opas?|Enkel\w*|Br(?:u|ü)der|Schwestern?|Geschwister"
    r"|Neffe\w?|Nichten?|Tanten?|Onkel|Cousin\w?|Schwager|Schwägerin|Familie|Hochzeit\w*|Scheidung|Trennung|Flitterwochen|Schwangerschaft|Babysitter\w*"
    r"|Tagesmutter|Kinder(?:arzt|ärztin|zimmer|geld)|Jungs|Mädchen|Kitaplatz)(?!-)"
)
_DE_HOME: Final = (
    r"(?:Wohnung|Haus(?!\ (?:öffnet|schließt|bietet|empfängt|verfügt))|Häuschen|Eigenheim|Zuhause|Heim|Haushalt\w*|(?:Privat|Heim)?adresse|Adresse|Anschrift|(?:Telefon|Handy)nummer|Garten|Küche|Schlafzimmer|Wohnzimmer|Vermieter\w*"
    r"|Miete|Hypothek|Nachbar\w*|Ersparniss\w+|Erspartes|Rente|Schulden|Auto|Geburtstage?|Hausarzt|Hausärztin|Arzt|Ärztin|Zahnarzt|Allergien?|Krankheit|Diagnose"
    r"|Hund(?:e|es|in)?|Welpen?|Katzen?|Kater|Kätzchen|Hamster|Kaninchen|Hasen?|Meerschweinchen|Papagei|Wellensittich\w*|Pferde?|Pony|Hühner|Haustiere?|Tierarzt|(?:gemeinsames\ )?Einkommen)(?!-)"
)
_DE_SOME: Final = r"(?:(?:auch|jetzt|inzwischen|noch|schon|gerade|seit\ \S+|letztes\ Jahr|ein\w{0,2}|kein\w{0,2}|zwei|drei|vier|fünf|\d{1,2}|\w+e[nrms]?|unser\w{0,2}|leider|uns|nur)\ ){0,4}?"
_DE_HAVE: Final = r"(?:haben|hatten|bekommen|erwarten|kriegen|wollen|wünschen|besitzen|halten|kaufen|mieten|suchen|adoptieren|bewohnen)"
_DE_ANY: Final = r"(?:(?!für\b|mit\b|von\b|über\b|gegen\b|zu\b)\w+\ ){0,4}?"
_DE_TRADE: Final = r"(?:Team\w*|Büro\w*|Firma|Firmen\w*|Laden\w*|Geschäft\w*|Abteilung\w*|Praxis\w*|Hotel\w*|Restaurant\w*|Schul\w+|Verein\w*|Gilde\w*|Kunden\w*)"
_DE_ADJECTIVES: Final = rf"(?:(?!{_DE_TRADE})[\w-]+\ ){{0,2}}?"
_DE_OUR_KIN: Final = _re(
    rf"\bunser\w{{0,2}}\ {_DE_ADJECTIVES}{_DE_KIN}\b"
    rf"|\b(?:wir\ {_DE_HAVE}|{_DE_HAVE}\ wir)\ {_DE_ANY}(?!Mann\b|Frau\b){_DE_KIN}\b"
    r"|\b(?:wir\ sind|sind\ wir)(?:\ \w+){0,3}\ (?:verheiratet|geschieden|verlobt|schwanger|getrennt|verwitwet|allergisch|krank|erkrankt)\b"
    r"|\bwir\ (?:sind\ (?:\w+\ ){0,2}Eltern|verdienen\ zusammen)\b|\b(?:wir\ (?:heiraten|trennen\ uns)|heiraten\ wir|(?:wir\ )?lassen\ (?:wir\ )?uns\ scheiden)\b"
    r"|\bwir\ haben(?:\ \S+){0,5}\ (?:geheiratet|uns\ getrennt|uns\ verlobt)\b|\bwir\ lassen\ uns\b.{0,30}\bscheiden\b"
    r"|\bhaben\ wir(?:\ \S+){0,5}\ (?:geheiratet|uns\ getrennt|uns\ verlobt)\b"
)
_DE_OUR_HOME: Final = _re(
    rf"\bunser\w{{0,2}}\ {_DE_ADJECTIVES}{_DE_HOME}\b"
    rf"|\b(?:wir\ {_DE_HAVE}|{_DE_HAVE}\ wir)\ {_DE_SOME}{_DE_HOME}\b"
    r"|\b(?:wir(?:\ \w+){0,2}\ (?:wohnen|wohnten|leben)|(?:wohnen|wohnten|leben)\ wir)\b|\bbei\ uns\ (?:zu\ Hause|daheim|zuhause)\b"
    r"|\b(?:wir\ )?(?:ziehen|sind)\ (?:wir\ )?(?:\S+\ ){0,4}(?:zusammen|nach\ [A-ZÄÖÜ]\w+\ (?:gezogen|umgezogen)|zusammengezogen)\b"
    r"|\b(?:wir\ (?:essen|trinken)|(?:essen|trinken)\ wir)\ (?:\w+\ ){0,2}(?:kein\w*|nie|nur|vegetarisch|vegan)\b"
)

# Chinese.

_ZH_KIN: Final = (
    "(?:大|小|二|双胞胎|宝贝)?(?:女儿|儿子|孩子|小孩|宝宝|娃娃?|闺女|双胞胎|龙凤胎|老大|老二|老小|妻子|老婆|太太|丈夫|老公|爱人|爸爸?|妈妈?|父亲|母亲|父母|爸妈"
    "|爷爷|奶奶|外公|外婆|公公|婆婆|岳[父母]|孙子|孙女|外孙女?|哥哥|姐姐|弟弟|妹妹|侄子|侄女|家人|家属|保姆|月嫂)"
)
_ZH_HOME: Final = "(?:家|房子|房租|房贷|公寓|住址|地址|房东|邻居|车子|存款|积蓄|生日|宠物|狗狗?|小狗|猫咪?|小猫|兔子|仓鼠|鹦鹉|婚礼|婚姻|结婚纪念日|蜜月|病|过敏|医生|预产期)"
_ZH_TRADE: Final = r"(?!公司|团队|产品|店|客户|的?(?:店|产品|公司|官网))"
_ZH_OUR_KIN: Final = re.compile(
    rf"(?:我们|咱们?)(?:俩|家|两口子|夫妻)?的?(?:[一二两三四五\d]个)?{_ZH_KIN}|(?:我们|咱们?)(?:家|俩|现在|已经|还|也)*(?:有|生|领养|想要|怀|带)(?:了|着)?(?:[一二两三四五六\d]?个?)"
    rf"(?:\S{{0,6}}的)?{_ZH_KIN}|(?:我们|咱们?)\S{{0,8}}(?:结婚|离婚|订婚|怀孕|分居|领证|分手|过敏|生孩子|要孩子|备孕|办婚礼)"
    r"|(?:我们|咱们?)(?:俩|夫妻|两口子)|(?:我们|咱们?)\S{0,6}(?:[接送]孩子|还房贷|交房租)"
)
_ZH_OUR_HOME: Final = re.compile(
    rf"(?:我们|咱们?)家{_ZH_TRADE}|(?:我们|咱们?)(?:俩|一家)?(?:现在|都|一直|目前|已经|还)*(?:住|搬家|租住|定居)"
    rf"|(?:我们|咱们?)(?:家|俩|现在|还|也|刚)*(?:养|买|租|有|领养)(?:了|着|过)?(?:[一二两三四五六\d]*[个只条套栋间辆匹]?)(?:\S{{0,5}})?{_ZH_HOME}"
)
_ZH_OUR_THING: Final = re.compile(rf"(?:我们|咱们?)(?:家)?的?{_ZH_HOME}")
_ZH_OURS: Final = re.compile(r"(?:我们|咱们?)家(?!公司|店|产品|的?(?:店|产品|公司|官网))|我家|家里")

_BARE_KIN: Final = _re(
    r"""^(?:(?:and|und|but|aber)\ )?(?:the\ (?:kids|children|baby|wife|missus|twins)|mum|mom|dad|grandma|grandpa|mama|papa|oma|opa|die\ (?:kinder|zwillinge)|das\ baby)
    \ (?:is|are|has|have|was|goes|go|lives|live|loves?|likes?|turns?|starts?|needs?|takes?|ist|sind|hat|haben|wohnt|wohnen|geht|gehen|heißt|heißen|mag|mögen|braucht|brauchen|wird|werden|kommt)\b
    |^(?:女儿|儿子|老婆|老公|妻子|丈夫|孩子|宝宝|爸爸|妈妈|爸妈|父母|婆婆|公公|爷爷|奶奶|外公|外婆|家人|老大|老二)(?!的?(?:节|店|品牌|产品))(?=[^，。]{2})"""
)
"""Family at the beginning of a sentence, where nobody says whose it is."""
_MY_KIN: Final = _re(
    rf"\b(?:my)\ (?:\w+\ ){{0,2}}?(?:{_KIN}|partner|girlfriend|boyfriend|fianc[eé]e?|{_PET}|{_HOME}|{_HEALTH})\b{_NO_HOUSEHOLD}"
    rf"|\bmein\w{{0,2}}\ (?:\w+\ ){{0,2}}?(?:{_DE_KIN}|Partner\w*|Freundin|Verlobte[rn]?|{_DE_HOME})\b|我家?的?(?:{_ZH_KIN}|女朋友|男朋友|未婚[夫妻]|{_ZH_HOME})"
)
"""Family and home of whoever says "my"."""


def speaks_of_household(sentence: str) -> bool:
    """Return whether a sentence with "we" or "our" speaks of a household, and not of a group.

    Args:
        sentence: One sentence.

    Returns:
        Whether it does: "Our daughter is called Lotte", "We live in Cork"; not "We deploy on
        Mondays".
    """
    plain = " ".join(sentence.replace("’", "'").split())
    if _BARE_KIN.search(plain):
        return True
    if _WE.search(plain) is None:
        return False
    if any(pattern.search(plain) for pattern in (_OUR_KIN, _DE_OUR_KIN, _ZH_OUR_KIN)):
        return True
    home = (_OUR_HOME, _DE_OUR_HOME, _ZH_OUR_HOME, _ZH_OUR_THING, _ZH_OURS)
    return any(pattern.search(plain) for pattern in home) and _AT_WORK.search(plain) is None


def names_household(sentence: str) -> bool:
    """Return whether a sentence names family or a home, with "my" or "our".

    Args:
        sentence: One sentence.

    Returns:
        Whether it does; what else the sentence says is said of the household as well, as in "My
        wife is a nurse, and we are moving to Bonn".
    """
    return speaks_of_household(sentence) or _MY_KIN.search(sentence.replace("’", "'")) is not None
