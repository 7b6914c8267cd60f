"""Name what a preference is a preference about: "I prefer metric units" is one of the units.

A group, or one of its users, has one current text of a subject. Only statements that choose have a
subject here: "I prefer tea" is one, "I like tea" is not, since who likes tea may like coffee as
well. A subject is named where both options belong to a known set, where the statement names both
options ("cats over dogs"), and where it says what is chosen ("as my editor"). Words beside the
choice are a part of the subject, so that "coffee in the morning" and "tea" hold side by side.
"""

# long: the options of three languages; a part of them says nothing by itself

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memoryware.tiers.extraction.facts import FactKind
from memoryware.tiers.text.own_words import has_chinese

CHOICES: Final[frozenset[FactKind]] = frozenset(("preference", "instruction"))
"""Kinds of facts that may choose."""
_BEFORE: Final = r"(?<![A-Za-z0-9ÄÖÜäöüß_-])"
_AFTER: Final = r"(?![A-Za-z0-9ÄÖÜäöüß_-])"
_LONGEST: Final = 300
"""Characters of a statement; longer ones are prose."""
_MOST_EXTRA: Final = 5
"""Words, or characters of Chinese, beside the choice up to which it has a subject."""
_MOST_OPTION: Final = 3
"""Words of an option that the statement names itself."""
_TWO: Final = 2


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


@dataclass(frozen=True, slots=True)
class _Topic:
    """What there may be one preference about.

    Attributes:
        name: Its name in a subject.
        options: One pattern for each option that excludes the others.
        heads: Words that name the topic itself; they may be left out.
    """

    name: str
    options: tuple[re.Pattern[str], ...]
    heads: re.Pattern[str]


def _topic(name: str, heads: str, *options: str) -> _Topic:
    """Return a topic; each pattern has words of Latin script, and those of Chinese behind "//"."""
    return _Topic(name, tuple(_words(option) for option in options), _words(heads))


def _words(pattern: str) -> re.Pattern[str]:
    latin, _, chinese = pattern.partition("//")
    parts = ([f"{_BEFORE}(?:{latin}){_AFTER}"] if latin.strip() else []) + (
        [chinese] if chinese.strip() else []
    )
    return _re("|".join(parts) or r"(?!)")


_TEXTS: Final = (
    ("answers", r"answers?|repl(?:y|ies)|responses?|antworten?", "回答|回复|答案|答复"),
    ("explanations", r"explanations?|erklärungen?", "解释|说明|讲解"),
    ("summaries", r"summar(?:y|ies)|zusammenfassungen?", "总结|摘要"),
    ("messages", r"messages|e-?mails?|nachrichten", "邮件|消息"),
    ("meetings", r"meetings?|besprechungen|treffen", "会议|开会"),
)
"""Texts and talks that have a length and a tone."""


def _of_texts(name: str, *options: tuple[str, str, str]) -> tuple[_Topic, ...]:
    """Return the topics of a quality of texts, such as their length."""
    return tuple(
        _topic(
            f"{name} of {kind}",
            rf"{latin}|tone|style|ton|stil//{chinese}|语气|风格",
            *(
                rf"""(?:{english})\ (?:{latin})|(?:{latin})\ (?:{english})|(?:{german})\w*\ (?:{latin})
                |(?:{latin})\ (?:bitte\ |immer\ )*(?:{german})
                //(?:{han})的?(?:{chinese})|(?:{chinese})[请要都得应该必须尽量]*(?:{han})"""
                for english, german, han in options
            ),
        )
        for kind, latin, chinese in _TEXTS
    )


_MODES: Final = r"[\ -]?(?:modes?|themes?|colou?r\ schemes?|backgrounds?|interfaces?|design)"
_DE_MODES: Final = r"(?:modus|designs?|themes?|oberflächen?|farbschema|hintergrund)"
_LANGUAGES: Final = (
    ("english", "englisch", "英文|英语"),
    ("german", "deutsch", "德文|德语"),
    ("chinese|mandarin", "chinesisch", "中文|汉语|普通话"),
    ("french", "französisch", "法文|法语"),
    ("spanish", "spanisch", "西班牙语|西班牙文"),
    ("italian", "italienisch", "意大利语"),
    ("portuguese", "portugiesisch", "葡萄牙语"),
    ("japanese", "japanisch", "日文|日语"),
    ("dutch", "niederländisch", "荷兰语"),
    ("polish", "polnisch", "波兰语"),
    ("turkish", "türkisch", "土耳其语"),
    ("russian", "russisch", "俄文|俄语"),
)
_TOPICS: Final = (
    _topic(
        "units",
        r"(?:measurement\ |maß)?(?:units?|einheiten)|systems?|systeme?|measurements?//单位制?|度量衡",
        r"metric|metrisch\w*//公制",
        r"imperial\w*|us\ customary|angloamerikanisch\w*//英制|美制",
    ),
    _topic(
        "temperature unit",
        r"degrees?|grad|temperatures?|temperatur\w*//温度|度",
        r"celsius//摄氏度?",
        r"fahrenheit//华氏度?",
        r"kelvin//开尔文",
    ),
    _topic(
        "unit of distance",
        r"distances?|entfernungen?//距离",
        r"kilomet(?:er|re)n?s?|km//公里|千米",
        r"miles?|meilen//英里",
    ),
    _topic(
        "theme",
        r"modes?|themes?//模式|主题|界面",
        rf"dark{_MODES}|(?:dunkel|dark|nacht)modus|darkmode|dunkle\w*\ {_DE_MODES}"
        "//(?:深色|暗色|暗黑|黑暗|夜间)(?:模式|主题|界面)?",
        rf"(?:light|bright){_MODES}|(?:hell|tag)modus|lightmode|helle\w*\ {_DE_MODES}"
        "//(?:浅色|亮色|明亮|白天)(?:模式|主题|界面)?",
    ),
    _topic(
        "seat",
        r"seats?|sitz\w*|platz|plätze//座位|位置|座|的位子",
        r"aisle|gang(?:plat?z|plätze|sitz)?//(?:靠)?[过走]道",
        r"window|fenster(?:platz|plätze|sitz)?//靠窗|窗边|窗口",
        r"middle\ seats?|mittel(?:platz|plätze|sitz)//中间座?",
    ),
    _topic(
        "editor",
        r"(?:text\ |code\ )?editors?|ides?|texteditor//编辑器",
        r"vim|gvim",
        r"neovim|nvim",
        r"emacs",
        r"vs\ ?code|visual\ studio\ code|vscodium",
        r"sublime(?:\ text)?",
        r"intellij(?:\ idea)?|pycharm|webstorm",
        r"(?-i:Zed|Helix|Nano|Cursor|Eclipse|Kate|Xcode)|notepad\+\+",
    ),
    _topic(
        "browser",
        r"(?:web\ ?)?browsers?//浏览器",
        r"firefox//火狐",
        r"chrome|chromium//谷歌浏览器",
        r"safari",
        r"(?-i:Edge|Brave|Opera)|vivaldi",
    ),
    _topic("shell", r"shells?", r"bash", r"zsh", r"fish\ shell", r"powershell", r"nushell"),
    _topic(
        "operating system",
        r"operating\ systems?|os|betriebssysteme?//操作系统|系统",
        r"(?-i:Windows)(?:\ 1\d)?",
        r"mac\ ?os|(?-i:Macs?)//苹果电脑",
        r"linux",
    ),
    _topic("phone", r"(?:mobile\ )?phones?|handys?//手机", r"iphones?|ios", r"androids?//安卓"),
    _topic(
        "keyboard layout",
        r"(?:keyboard\ )?layouts?|tastatur\w*//键盘布局?",
        r"qwerty",
        r"qwertz",
        r"azerty",
        r"dvorak",
        r"colemak",
    ),
    _topic(
        "hot drink",
        r"(?:hot\ )?drinks?|heißgetränke?//饮料",
        r"tea|tee//茶",
        r"coffee|kaffee//咖啡",
    ),
    _topic(
        "wine",
        r"wines?|weine?//葡萄酒",
        r"red\ wines?|rotweine?//红酒|红葡萄酒",
        r"white\ wines?|weißweine?//白葡萄酒",
    ),
    _topic(
        "water",
        r"(?:mineral)?wass?er//水",
        r"still\ water|stilles\ wasser//纯净水|不带气的水",
        r"(?:sparkling|fizzy|carbonated)\ water|sprudel(?:wasser)?//气泡水|苏打水",
    ),
    _topic(
        "currency",
        r"currenc(?:y|ies)|währung|prices?|preise?|amounts?|beträge?//货币|币种|价格|金额",
        r"euros?|eur//欧元",
        r"(?:us[\ -]?)?dollars?|us-dollar|usd//美元",
        r"(?:british\ )?pounds|gbp|pfund//英镑",
        r"(?:swiss\ )?francs?|chf|franken//瑞士法郎",
        r"yen|jpy//日元",
        r"yuan|rmb|renminbi//人民币",
    ),
    _topic(
        "date format",
        r"dates?|(?:date|datums)[\ -]?formats?|formats?|datum|daten//日期(?:格式)?|格式",
        r"(?:dd?|tt?)[./-]mm?[./-](?:yy|jj){1,2}|day\ first//日月年|日/月/年",
        r"mm?[./-](?:dd?|tt?)[./-](?:yy|jj){1,2}|month\ first//月日年|月/日/年",
        r"(?:yyyy|jjjj)[./-]mm[./-](?:dd|tt)|iso(?:[\ -]?8601|-datum\w*|-format)?//年月日|年-月-日",
        r"(?:us|american)(?:[\ -](?:dates?|date\ formats?|datumsformat))",
        r"(?:european|german|british|deutsches|europäisches)(?:\ (?:dates?|date\ formats?|datumsformat))",
    ),
    _topic(
        "time format",
        r"clocks?|times?|formats?|uhrzeiten?|uhr|zeitformat|notation//时间(?:格式)?|格式",
        r"24[\ -]?(?:hours?|stunden?|h)(?:[\ -](?:format|clock|times?|anzeige|uhr|system|notation))?"
        r"|military\ time//(?:24|二十四)小时制?",
        r"12[\ -]?(?:hours?|stunden?|h)(?:[\ -](?:format|clock|times?|anzeige|uhr|system|notation))?"
        r"|am/pm//(?:12|十二)小时制?",
    ),
    _topic(
        "spelling",
        r"spellings?|rechtschreibung|schreibweise//拼写",
        r"(?:british|uk)\ (?:spelling|english)|britische\w*\ (?:rechtschreibung|schreibweise|englisch)"
        r"//英式(?:拼写|英语)",
        r"(?:american|us)\ (?:spelling|english)|amerikanische\w*\ (?:rechtschreibung|schreibweise|englisch)"
        r"//美式(?:拼写|英语)",
    ),
    _topic(
        "indentation",
        r"indent\w*|einrückung(?:en)?//缩进",
        r"tabs|tabulatoren//制表符|tab键?",
        r"(?:(?:two|four|eight|zwei|vier|\d)\ )?(?:spaces|leerzeichen)//[两四]?个?空格",
    ),
    _topic(
        "quotation marks",
        r"quotes|quotation\ marks|anführungszeichen//引号",
        r"single\ quotes|einfache\ anführungszeichen//单引号",
        r"double\ quotes|doppelte\ anführungszeichen//双引号",
    ),
    _topic(
        "style of names",
        r"names|naming|identifiers|bezeichner|namen//命名",
        r"camel[\ _]?case//驼峰(?:命名(?:法)?)?",
        r"snake[\ _]?case//下划线(?:命名(?:法)?)?",
        r"kebab[\ _-]?case",
    ),
    _topic(
        "language of answers",
        r"answer(?:s|ed)?|repl(?:y|ies)|responses?|languages?|speak(?:ing)?|talk(?:ing)?"
        r"|communicat(?:e|ing)|chat(?:ting)?|conversations?|antworten?|sprache|sprechen|rede[nt]?"
        r"//语言|回答|回复|答复|交流|沟通|说话?|聊天?|跟我|和我|与我",
        *(
            rf"""(?:in|speak(?:ing)?)\ (?:{english})|(?:{english})(?=\ (?:answers|replies|responses))
            |(?:auf\ )?(?-i:{german.capitalize()})|{german}e(?=\ antworten)//{han}"""
            for english, german, han in _LANGUAGES
        ),
    ),
    *_of_texts(
        "length",
        (
            r"short(?:er)?|brief(?:er)?|concise|terse|succinct",
            r"kurz|kürzer|knapp|prägnant",
            "简短|简洁|精简|简明|短",
        ),
        (
            r"long(?:er)?|detailed|thorough|in-depth|comprehensive",
            r"lang|länger|ausführlich|detailliert",
            "详细|详尽|长",
        ),
    ),
    *_of_texts(
        "tone",
        (r"formal", r"förmlich|formell|formal", "正式"),
        (r"informal|casual|relaxed", r"locker|informell|lässig", "随意|轻松|口语化"),
    ),
    _topic(
        "form of answers",
        r"answers?|antworten?|format//回答|回复|形式",
        r"bullet(?:ed)?\ (?:points?|lists?)|stichpunkten?|stichworten?|aufzählungen//要点|列表|分点",
        r"prose|full\ sentences|running\ text|fließtext|ganzen?\ sätzen?//段落|完整的?句子|散文",
    ),
    _topic(
        "du or Sie",
        r"anrede|form",
        r"(?-i:Du)|duz\w*|geduzt",
        r"(?-i:Sie)|siez\w*|gesiezt",
    ),
    _topic(
        "way of contact",
        r"contacted|reach(?:ed)?|kontaktier\w*|erreich\w*//联系(?:方式)?|联络|沟通",
        r"e-?mails?//电?子?邮件|邮箱",
        r"(?:phone\ )?calls?|phone|telefon\w*|anrufe?//(?:打)?电话",
        r"text\ messages?|texts|sms//短信",
        r"whatsapp",
        r"slack",
        r"(?:by\ )?post|letters?|briefe?//信件|寄信",
    ),
    _topic(
        "way of payment",
        r"pay(?:ing)?|payments?|zahl(?:en|e|ung)?|bezahl(?:en|e|ung)?//付款|支付|付钱|结账|付",
        r"(?:credit\ |debit\ )?card|(?:kredit|ec-)?karte//刷卡|信用卡",
        r"cash|bargeld|bar\ (?:zu\ )?(?:be)?zahlen|(?<=zahle\ lieber\ )bar//现金",
        r"invoice|(?:auf\ )?rechnung//发票",
        r"paypal",
        r"(?:bank|wire)\ transfer|überweisung//转账|汇款",
        r"direct\ debit|lastschrift",
        "//支付宝",
        "//微信支付",
    ),
    _topic(
        "place of work",
        r"work(?:ing)?|arbeite[nt]?//办公|工作|上班",
        r"(?:work(?:ing)?\ )?from\ home|home\ ?office|homeoffice|remote(?:ly)?(?:\ work)?"
        r"|zu(?:hause|\ hause)//(?:在家|居家|远程)(?:办公|工作|上班)?",
        r"(?:in|at|from)\ (?:the|our)\ office|im\ büro//在?(?:办公室|公司)(?:办公|工作|上班)?|坐班",
    ),
    _topic("cats or dogs", r"pets?|haustiere?//宠物", r"cats|katzen//猫", r"dogs|hunde//狗"),
)
"""Sets of options of which a person prefers one."""

# Statements that choose.

_ADVERBS: Final = (
    r"(?:\ (?:really|also|just|actually|always|usually|mostly|currently|still|generally|strictly|now"
    r"|do|honestly|personally|definitely|often|much|strongly|clearly|nowadays))*"
)
_ENGLISH: Final = _re(
    rf"""(?:(?P<scope>(?:for|as|in|at|on|when|while|with|during|regarding|whenever|where)\b[^,]{{1,60}}?),?\ )?
    (?P<who>i|we|the\ user|(?:our|my)\ (?:\w+\ )?team)(?:'d)?{_ADVERBS}(?:\ would)?{_ADVERBS}
    \ (?:prefers?|favou?rs?|rather|(?:likes?|loves?)(?=\ .*\b(?:better|best|the\ most|more\ than)\b))\ (?P<choice>.+)"""
)
_ENGLISH_ORDER: Final = _re(
    r"""(?:(?:please|from\ now\ on|in\ (?:the\ )?future|going\ forward|always|by\ default),?\ )*
    (?:use|answer|reply|respond|write|speak|talk|give|show|keep|make|format|prefer|send)\ (?P<choice>.+)"""
)
_GERMAN: Final = _re(
    r"""(?=.*\b(?P<who>ich|wir|mir|uns|(?:der|die)\ nutzer(?:in)?|unser\ (?:\w+\ )?team|unsere\ \w+)\b)
    (?=.*\b(?:bevorzug\w*|präferier\w*|lieber|am\ liebsten|zieh\w*\b.*\bvor)\b)(?P<choice>.+)"""
)
_GERMAN_ORDER: Final = _re(
    r"""(?:(?:bitte|ab\ jetzt|ab\ sofort|künftig|in\ zukunft|immer|grundsätzlich),?\ )*
    (?P<choice>(?:antworte|nutze?|benutze?|verwende|schreib\w?|sprich|rede|gib|zeige?|halte?|fass|duze?|sieze?)\ .+)"""
)
_CHINESE: Final = _re(
    r"""(?P<choice>.*?(?P<who>我们|咱们|我|用户|团队)\S{0,6}?(?:更|最|比较|还是)?(?:喜欢|爱|偏好|偏爱|倾向于?|宁愿|宁可).+)"""
)
_CHINESE_CHOICE: Final = _re(r"更|最|偏好|偏爱|倾向|宁愿|宁可|而不是|而非|胜过|多过|甚于|比起")
_CHINESE_ORDER: Final = _re(
    r"(?:请|以后|从现在起|今后|一律|都|始终|总是|默认|[，,])*(?P<choice>(?:使?用|以|回答|回复|给我).+)"
)
_GROUP: Final = _re(r"(?:we|our|uns|wir|unser\w*|my\ (?:\w+\ )?team)\b|我们|咱们|团队")
_NAMED: Final = _re(
    r"""(?:my|our|(?P<german>meine?|unsere?))\ (?:\w+\ )??(?:preferred|favou?rite|go-to|bevorzugte\w*|lieblings-?)\ ?
    (?P<topic>[\w\ ]{2,30}?)\ (?:is|are|ist|sind)\ (?!not\b|nicht\b|kein)(?P<choice>\S.*)
    |(?P<who>我们?)(?:的)?(?:最喜欢|最爱|偏好|首选|偏爱)的(?P<han>[^是，]{1,8})是(?P<value>[^不].*)"""
)
"""A statement that names what is preferred: "My favourite editor is Vim"."""
_AS: Final = _re(r"\bas\ (?:my|our|the)\ (?P<topic>[\w-]+(?:\ [\w-]+)?)$")
_ADDRESS: Final = _re(
    r"""(?:please\ |always\ |bitte\ )*(?:(?:call|address)\ me\ (?:as\ )?|nenne?\ mich\ (?:bitte\ |immer\ |ab\ jetzt\ |ab\ sofort\ |künftig\ |lieber\ |jetzt\ )*)
    (?!back\b|when\b|if\b|later\b|at\b|on\b|an?\b|soon\b)(?!from\b|now\b)(?P<name>[\w.-]+(?:\ (?!from\b|now\b|instead\b|please\b|bitte\b|ab\b)[\w.-]+)?)(?:,?\ (?:from\ now\ on|now|instead|please|bitte|ab\ jetzt|ab\ sofort))*$
    |(?:请|以后|你可以|就)*(?:叫|称呼)我(?:为|做)?(?P<han>[^，]{1,6})$"""
)
_AND: Final = _re(
    r"\b(?:and|or|both|und|oder|sowie|beide\w?|plus|either|entweder|&)\b|[和与及或、]|还有|都"
)
"""Words of several options at once, of which another may hold as well."""
_CONTRAST: Final = _re(
    r""",?\ (?:over|rather\ than|instead\ of|(?:better\ |more\ )?than|as\ opposed\ to|(?:and\ |but\ )?not|als
    |statt|anstatt|anstelle\ von|gegenüber|(?:und\ |aber\ )?nicht)\ (?!to\ )|而不是|而非|胜过|多过|甚于|[，,]?不是"""
)
_TO: Final = _re(r"(?<!^)\ to\ ")
_INSTEAD: Final = _re(r"比起(?P<other>[^，,我]{1,10})[，,]?")
_DENIED: Final = _re(
    r"\b(?:not|don't|doesn't|no\ longer|never|nicht|kein\w*|nie|weder)\b|n't\b|[不没别]"
)
_REASON: Final = _re(
    r",?\ (?:because|since|as\ (?:i|it)|so\ that|weil|da|damit)\ .*|[，,]?(?:因为|这样|由于).*"
)
_FILLERS: Final = _re(
    r"""\b(?:i|we|the|an?|my|our|me|us|it|please|to|be|using|use|have|having|get|getting|see|seeing|drink|drinking|sit|sitting
    |take|taking|set|by|via|now|nowadays|always|usually|generally|again|anyway|these\ days|currently|actually|from\ now\ on|going\ forward|in\ (?:the\ )?future
    |better|best|most|more|of\ all|by\ default|all|only|as|at|for|in|with|instead|your|give|show
    |ich|wir|mir|mich|uns|du|dir|der|die|das|den|dem|ein|eine[mnr]?|mein\w?|meine[mnr]|unsere?\w?|bitte|immer|jetzt|nun|inzwischen|mittlerweile|eigentlich|grundsätzlich
    |generell|meistens?|ab\ jetzt|ab\ sofort|künftig|in\ zukunft|lieber|am\ liebsten|liebsten|bevorzug\w*|präferier\w*|ziehe?n?|vor|ist|sind|es|mag|mögen|nur|stets|doch|wieder
    |trinken?|nutzen?|benutzen?|verwenden?|sitzen?|habe[n]?|hätte|nehmen?|zahlen?|bezahlen?|schreibe?|antworte|sprich|sprechen?|rede|gib|zeige?|halte?|arbeiten?|werden?|zu|auf|per|mit|am|wenn|dass
    |der\ nutzer|die\ nutzerin|unser\ team|the\ user|dich|deine?\w?)\b
    |请|以后|从现在起|今后|一律|始终|总是|默认|我们|咱们|我|用户|团队|现在|平时|一般|通常|其实|真的|还是|比较|更|最|喜欢|偏好|偏爱|倾向于?|宁愿|宁可|爱|使用|用|喝|坐|看|写|的|在|以|位子|给|来|了|也|采用|设置|设成|显示"""
)
"""Words that say nothing of what is chosen."""
_EDGES: Final = " \t\n,;:.!…，。！；：、\"'"
_PLACE: Final = _re(r"\b(?:in|on|at|for|when|while|during|with|to|bei|beim|im|am|für|wenn|to)\b")


def preference_subject(statement: str) -> str:
    """Return what a preference or a standing instruction is about.

    Args:
        statement: A statement that chooses, in English, German or Chinese.

    Returns:
        A subject such as "user: preferred units" for one user and "preferred units" for a group;
        "" for a statement beside which another of its kind may hold.
    """
    plain = " ".join(statement.replace("’", "'").split()).strip(_EDGES)
    if len(plain) > _LONGEST:
        return ""
    plain = _REASON.sub("", plain)
    if _ADDRESS.match(plain):
        return "user: form of address"
    if named := _named_subject(plain):
        return named
    match = _frame(plain)
    if match is None:
        return ""
    groups = match.groupdict()
    scope, choice = groups.get("scope") or "", match["choice"]
    subject = _subject_of(choice, scope)
    if not subject:
        return ""
    is_of_group = _GROUP.match(groups.get("who") or "") is not None
    return subject if is_of_group else f"user: {subject}"


def _frame(statement: str) -> re.Match[str] | None:
    """Return the match of the words that choose; group "choice" has the options."""
    if has_chinese(statement):
        match = _CHINESE.match(statement)
        if match is not None and _CHINESE_CHOICE.search(statement):
            return match
        return _CHINESE_ORDER.match(statement)
    for frame in (_ENGLISH, _GERMAN, _GERMAN_ORDER, _ENGLISH_ORDER):
        if match := frame.match(statement):
            return match
    return None


def _named_subject(statement: str) -> str:
    """Return the subject of "My favourite editor is Vim"; other nouns have one of their own."""
    match = _NAMED.match(statement)
    if match is None:
        return ""
    name = match["topic"] or match["han"]
    topic = _topic_named(name) or (name if match["han"] else "")
    if not topic or _AND.search(match["choice"] or match["value"]):
        return ""
    return f"preferred {topic}" if _GROUP.match(statement) else f"user: preferred {topic}"


def _topic_named(name: str) -> str:
    return next((topic.name for topic in _TOPICS if topic.heads.fullmatch(name)), "")


def _subject_of(choice: str, scope: str) -> str:
    """Return the subject of a choice without whose it is; "" if it has none."""
    if role := _AS.search(choice):
        name = _topic_named(role["topic"]) or role["topic"].lower()
        is_single = not (_AND.search(choice) or _DENIED.search(choice))
        return f"preferred {name}" if is_single and not scope else ""
    options, others = choice, ""
    if instead := _INSTEAD.search(choice):
        options, others = choice[: instead.start()] + choice[instead.end() :], instead["other"]
    elif contrast := (
        _CONTRAST.search(choice) or (not choice.startswith("to ") and _TO.search(choice))
    ):
        options, others = choice[: contrast.start()], choice[contrast.end() :]
    if _AND.search(options) or _AND.search(others) or _DENIED.search(f"{options} {others}"):
        return ""
    topics = [
        (topic, _values(topic, options), _values(topic, others))
        for topic in _TOPICS
        if any(option.search(choice) for option in topic.options)
    ]
    topics = _widest(topics, choice)
    if len(topics) > 1:
        return ""
    if topics and (not others or topics[0][2]):
        topic, chosen, _ = topics[0]
        is_exchange = "vor" in choice.split() and len(chosen) == _TWO
        if len(chosen) > 1 and not is_exchange:
            return ""
        extra = _extra(f"{scope} {options} {others}", topic)
        return _scoped(f"preferred {topic.name}", extra)
    return _pair(options, others) if others and not scope else ""


def _values(topic: _Topic, text: str) -> set[int]:
    return {at for at, option in enumerate(topic.options) if option.search(text)}


def _widest(
    topics: list[tuple[_Topic, set[int], set[int]]], text: str
) -> list[tuple[_Topic, set[int], set[int]]]:
    """Leave out topics whose options are a part of another option: "short emails"."""

    def spans(topic: _Topic) -> list[tuple[int, int]]:
        return [match.span() for option in topic.options for match in option.finditer(text)]

    def is_inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
        return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]

    spanned = [(item, spans(item[0])) for item in topics]
    return [
        item
        for item, own in spanned
        if not all(
            any(
                is_inside(span, other)
                for rest, others in spanned
                if rest is not item
                for other in others
            )
            for span in own
        )
    ]


def _extra(text: str, topic: _Topic) -> str:
    """Return the words of a choice that are neither its options nor its topic."""
    for pattern in (*topic.options, topic.heads, _CONTRAST, _FILLERS):
        text = pattern.sub(" ", text)
    return " ".join(re.sub(r"[^\w\s+-]", " ", text).lower().split())


def _scoped(subject: str, extra: str) -> str:
    """Return a subject with the words that limit it: "preferred hot drink, morning"."""
    size = len(extra) if has_chinese(extra) else len(extra.split())
    if size > _MOST_EXTRA:
        return ""
    return f"{subject}, {extra}" if extra else subject


def _pair(options: str, others: str) -> str:
    """Return the subject of a choice between two options that are no known set."""
    names = []
    for side in (options, others):
        plain = side.strip(_EDGES)
        name = " ".join(_FILLERS.sub(" ", plain).lower().split())
        size = len(name) / _TWO if has_chinese(name) else len(name.split())
        if not 0 < size <= _MOST_OPTION or _PLACE.search(plain):
            return ""
        names.append(name)
    return f"preference between {' and '.join(sorted(names))}"
