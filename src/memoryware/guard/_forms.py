"""Secrets that are known by the form they stand in: key blocks, addresses, headers, commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryware.guard import _plausible
from memoryware.guard.finding import Span


@dataclass(frozen=True, slots=True)
class _Form:
    """One form, with a pattern that has a group for the value.

    `needs`, in lower case, are texts of which one must be there, after the gate of the form
    was. `least` is how many characters a random value has; 0 takes all but placeholders.
    """

    kind: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    least: int = 0


def _form(kind: str, needs: str, pattern: str, least: int = 0) -> tuple[str, _Form]:
    gate, _, rest = needs.partition("|")
    compiled = re.compile(pattern, re.VERBOSE | re.IGNORECASE)
    return gate, _Form(kind, tuple(rest.split()), compiled, least)


_HASH: Final = "password hash"
_ALL: Final = (
    _form(
        "password in a URL",
        "://",
        r"://[^\s:/@\"'<>?\#]{0,120}:(?P<value>[^\s\"'<>/?\#]{4,200}?)"
        r"@(?=[\w.\[%{$-]{1,255})(?![^\s\"'<>/?\#@]{0,200}@)",
    ),
    _form(
        "token in a URL",
        "://",
        r"://(?P<value>[A-Za-z0-9_-]{20,255})@(?=[\w.-]{1,255})",
        20,
    ),
    _form(
        "webhook address",
        "://|hook",
        r"""https://(?:
            hooks\.slack\.com/(?:services|workflows|triggers)/(?P<slack>[\w/]{20,120})
          | (?:\w{2,12}\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,22}/(?P<discord>[\w-]{50,90})
          | [\w.-]{1,80}\.webhook\.office\.com/webhookb2/(?P<teams>[\w@/-]{60,250})
          | hooks\.zapier\.com/hooks/catch/(?P<zapier>\d{4,10}/\w{5,12})
          | open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<lark>[\w-]{30,40})
        )""",
    ),
    _form(
        "password in a connection string",
        "@|@tcp( @unix(",
        r"(?<![\w:/])[\w.%-]{1,60}:(?P<value>[^\s\"'@/]{3,100})@(?:tcp|unix)\(",
    ),
    _form(
        "password in a connection string",
        ":543",
        r"(?m)^[\w.*-]{1,100}:\d{4,5}:[\w*-]{1,60}:[\w.*-]{1,60}:(?P<value>[^\s:]{4,100})$",
    ),
    _form(
        "Azure storage key",
        "key=|accountkey= accesskey=",
        r"(?:account|sharedaccess|access)key=(?P<value>[A-Za-z0-9+/]{40,90}={0,2})",
        40,
    ),
    _form(
        "signature in a URL",
        "://|sig= signature=",
        r"[?&](?:sig|x-amz-signature|x-goog-signature|signature)=(?P<value>[A-Za-z0-9%+/=_-]{30,520})",
        30,
    ),
    _form(
        "authorization header",
        "authoriz",
        r"""authorization["']?\s{0,4}[:=,]\s{0,4}["']?\s{0,2}
            (?:bearer|basic|token|digest|apikey|api-key|bot|negotiate|splunk|key|ghost)?
            (?:\s{1,3}|=)?(?P<value>[\w.~+/=:-]{8,4000})""",
        8,
    ),
    _form(
        "authorization header",
        "bearer",
        r"\bbearer\s{1,3}(?P<value>[\w.~+/=:-]{16,4000})",
        16,
    ),
    _form(
        "authorization header",
        "basic ",
        r"\bbasic\s{1,3}(?P<value>[A-Za-z0-9+/]{12,400}={0,2})",
        12,
    ),
    _form(
        "session cookie",
        "|cookie curl",
        r"""(?:cookie["']?\s{0,4}[:=]|--cookie[\s=]|\bcurl\b[^\n]{0,120}?\s-b)\s{0,4}["']?(?:[\w.-]{1,60}=[^\s;"']{0,400};\s{0,4}){0,12}?
            [\w.-]{0,40}(?:sess|sid|auth|token|jwt|login|remember|csrf|xsrf|account|user)[\w.-]{0,40}
            =(?P<value>[^\s;"',]{16,4000})""",
        16,
    ),
    _form(
        "password in a command",
        " -|-u --user --auth -a --proxy-user",
        r"""\b(?:curl|wget|https?|httpie)\b[^\n]{0,200}?\s(?:-u|--user|-a|--auth|-U|--proxy-user)(?:\s{1,3}|=)
            ["']?[\w.@+\\-]{1,80}:(?P<value>[^\s"']{3,100})""",
    ),
    _form(
        "password in a command",
        " -p|mysql sshpass mariadb",
        r"""(?:\bmysql\w{0,10}|\bmariadb\w{0,10})\b[^\n]{0,120}?\s-p(?P<mysql>[^\s"'-][^\s"']{3,60})
          | \bsshpass\s{1,3}-p\s{0,2}["']?(?P<ssh>[^\s"']{3,80})""",
    ),
    _form(
        "password in a command",
        " -p|login mongo",
        r"""\b(?:docker|podman|helm|az|cf|oc|skopeo)\b[^\n]{0,40}?\blogin\b[^\n]{0,120}?\s-p(?:\s{1,3}|=)["']?(?P<login>[^\s"']{4,200})
          | \bmongo\w{0,6}\b[^\n]{0,120}?\s-p\s{1,3}["']?(?P<mongo>[^\s"']{4,120})""",
    ),
    _form(
        "password in a command",
        "ldap|-w",
        r"""\bldap\w{3,10}\b[^\n]{0,200}?\s-w\s{1,3}["']?(?P<value>[^\s"']{4,80})""",
    ),
    _form(
        "password in a command",
        "smbclient",
        r"""\bsmbclient\b[^\n]{0,120}?%(?P<value>[^\s"']{4,80})""",
    ),
    _form(
        "password in a command",
        "redis-cli",
        r"""\bredis-cli\b[^\n]{0,120}?\s-a\s{1,3}["']?(?P<value>[^\s"']{4,120})""",
    ),
    _form(
        "password in a command",
        "pass:|openssl",
        r"""\bopenssl\b[^\n]{0,120}?\bpass:(?P<value>[^\s"']{4,120})""",
    ),
    _form(
        "password in a command",
        "identified",
        r"""\bidentified\s{1,3}(?:with\s{1,3}\S{1,40}\s{1,3})?by\s{1,3}(?:password\s{1,3})?["'](?P<value>[^"'\n]{4,100})["']""",
    ),
    _form(
        "private key",
        '"kty"',
        r"""["'](?:d|k|p|q|dp|dq|qi)["']\s{0,4}:\s{0,4}["'](?P<value>[\w-]{20,1400})["']""",
        20,
    ),
    _form(
        "password in a command",
        "securestring",
        r"""securestring\s{1,3}(?:-string\s{1,3})?["'](?P<value>[^"'\n]{4,100})["']""",
    ),
    _form(
        "password in a command",
        "add_user",
        r"\badd_user\s{1,3}[\w.-]{1,40}\s{1,3}[\"']?(?P<value>[^\s\"']{4,80})",
    ),
    _form(
        "password in a command",
        "net user",
        r"\bnet\s{1,3}user\s{1,3}[\w.-]{1,40}\s{1,3}(?P<value>[^\s/\"'*][^\s\"']{3,60})\s{1,3}/(?:add|domain)",
    ),
    _form(
        "password in a command",
        "echo|sudo --password-stdin passwd",
        r"""\becho\s{1,3}(?:-n\s{1,3})?["']?(?P<value>[^\s"'|]{4,200})["']?\s{0,3}\|\s{0,3}
            (?:sudo\s{1,3}-S|[^\n|]{0,80}--password-stdin|[^\n|]{0,30}\bpasswd\b)""",
    ),
    _form(
        "password in code",
        "auth",
        r"""auth\w{0,8}\s{0,3}[=(]\s{0,3}\(?\s{0,3}["'][^"'\n]{1,80}["']\s{0,3},\s{0,3}["'](?P<value>[^"'\n]{4,100})["']\s{0,3}\)""",
    ),
    _form(
        "wifi password",
        "wifi:",
        r"wifi:(?:[^\s;]{0,60};){0,4}?P:(?P<value>[^\s;]{4,80});",
    ),
    _form(
        "one-time password seed",
        "://|otpauth",
        r"otpauth://[^\s\"'<>]{1,300}?[?&]secret=(?P<value>[A-Z2-7]{12,128}=*)",
    ),
    _form(
        "PayPal token",
        "$|access_token$",
        r"(?P<value>access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32})",
    ),
    _form(
        _HASH,
        "$",
        r"""(?P<value>(?:\$2[abxy]\$\d{2}\$[./A-Za-z0-9]{53}
          | \$(?:1|5|6|y|apr1|gy)\$[^\s$:"']{1,40}\$(?:[^\s$:"']{1,40}\$)?[./A-Za-z0-9]{22,90}
          | \$argon2(?:id|i|d)\$v=\d+\$[\w=,]{5,40}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{16,128}
          | \$?(?:pbkdf2|scrypt)[\w:-]{0,20}\$[^\s$"']{1,60}\$[A-Za-z0-9+/=.]{20,160}(?:\$[A-Za-z0-9+/=.]{20,160})?))""",
    ),
    _form(
        "Google refresh token",
        "1//0",
        r"(?<![\w/])(?P<value>1//0[\w-]{36,200})",
        30,
    ),
    _form(
        "Asana token",
        "/1",
        r"(?<![\w/.])(?P<value>[0-2]/\d{16}(?:/\d{16})?:[0-9a-f]{32})\b",
    ),
)
_BY_GATE: Final = {
    gate: [form for other, form in _ALL if other == gate] for gate, _ in _ALL
}
"""Forms by a text without which none of them is there."""
_BEGIN: Final = re.compile(r"-{4,5} ?BEGIN (?P<label>[A-Z0-9 .]{0,60})-{4,5}")
_END: Final = re.compile(r"-{4,5} ?END [A-Z0-9 .]{0,60}-{4,5}")
_SECRET_LABEL: Final = re.compile(r"PRIVATE KEY|PRIVATE-KEY|STATIC KEY|PGP PRIVATE")
_BODY: Final = re.compile(r"(?:\\[nrt]|[A-Za-z0-9+/=\s\"',:.+()-])*")
_PUTTY: Final = re.compile(r"Private-Lines:\s*\d+\s+(?P<value>[A-Za-z0-9+/=\s]{40,8000})")
_LONGEST_BLOCK: Final = 20_000


def find(text: str, low: str) -> Iterator[Span]:
    """Return what stands in a known form.

    Args:
        text: What is looked through.
        low: The same in lower case, to see what can be there.
    """
    for gate, forms in _BY_GATE.items():
        if gate in low:
            for form in forms:
                if not form.needs or any(need in low for need in form.needs):
                    yield from _in_form(form, text)
    if "-begin " in low or "- begin " in low:
        yield from _key_blocks(text)
    if "private-lines:" in low:
        for match in _PUTTY.finditer(text):
            yield "private key", *match.span("value")


def _in_form(form: _Form, text: str) -> Iterator[Span]:
    for match in form.pattern.finditer(text):
        group = match.lastgroup or ""
        value = match[group]
        if form.least:
            good = _plausible.looks_random(value, form.least) or _plausible.is_uuid(value)
        else:
            good = form.kind == _HASH or not _plausible.stands_in(value)
        if good:
            yield form.kind, *match.span(group)


def _key_blocks(text: str) -> Iterator[Span]:
    """Return private keys from their first line to their last, or as far as they go."""
    position = 0
    while begin := _BEGIN.search(text, position):
        position = begin.end()
        if not _SECRET_LABEL.search(begin["label"]):
            continue
        limit = begin.end() + _LONGEST_BLOCK
        following = _BEGIN.search(text, position, limit)
        end = _END.search(text, position, following.start() if following else limit)
        if end is not None:
            position = end.end()
            body = text[begin.end() : end.start()]
        else:
            run = _BODY.match(text, position, following.start() if following else limit)
            position = run.end() if run else position
            body = text[begin.end() : position]
        solid = sum(map(str.isalnum, body))
        if solid >= 24 and not _plausible.stands_in(body.strip()[:40]):
            yield "private key", begin.start(), position
