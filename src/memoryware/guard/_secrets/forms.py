"""Secrets that are known by the form they stand in: addresses, headers, commands, key blocks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from memoryware.guard._secrets.secret_values import is_uuid, looks_random, stands_in
from memoryware.guard._secrets.text_scan import DetectedSpan


@dataclass(frozen=True, slots=True)
class Form:
    """One form, and what a text must have for it to be there.

    Attributes:
        kind: What stands in it.
        gate: A text, in lower case, without which the form is not there.
        pattern: A verbose pattern for it; its one group that takes part is the secret.
        needs: Texts of which one must be there as well, if there are any.
        least: How many characters the secret has at least, which must look random; 0 takes
            all but placeholders, -1 takes all.
    """

    kind: str
    gate: str
    pattern: str
    needs: tuple[str, ...] = ()
    least: int = 0

    @property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, compiled on its first use."""
        return _compiled(self.pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


_ADDRESSES: Final = (
    Form(
        "password in a URL",
        "://",
        r"""
        :// [^\s:/@"'<>?\#]{0,120} : (?P<value>[^\s"'<>/?\#]{4,200}?)
        @ (?=[\w.\[%{$-]) (?![^\s"'<>/?\#@]{0,200}@)
        """,
    ),
    Form(
        "token in a URL",
        "://",
        r":// (?P<value>[A-Za-z0-9_-]{20,255}) @ (?=[\w.-])",
        least=20,
    ),
    Form(
        "webhook address",
        "://",
        r"""
        https://(?:
            (?:\w{2,12}\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,22}/
            (?P<discord>[\w-]{50,90})
          | [\w.-]{1,80}\.webhook\.office\.com/webhookb2/(?P<teams>[\w@/-]{60,250})
          | hooks\.zapier\.com/hooks/catch/(?P<zapier>\d{4,10}/\w{5,12})
          | open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/(?P<lark>[\w-]{30,40})
        )
        """,
        needs=("hook",),
    ),
    Form(
        "webhook address",
        "hooks.slack",
        r"""
        hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/
        (?P<value>[\w-]{6,40}(?:/[\w-]{4,120}){1,6})
        """,
    ),
    Form(
        "signature in a URL",
        "://",
        r"""
        [?&](?:sig|x-amz-signature|x-goog-signature|signature)=
        (?P<value>[A-Za-z0-9%+/=_-]{30,520})
        """,
        needs=("sig=", "signature="),
        least=30,
    ),
    Form(
        "one-time password seed",
        "://",
        r"""otpauth://[^\s"'<>]{1,300}?[?&]secret=(?P<value>[A-Z2-7]{12,128}=*)""",
        needs=("otpauth",),
    ),
    Form(
        "password in a connection string",
        "@",
        r"""(?<![\w:/])[\w.%-]{1,60}:(?P<value>[^\s"'@/]{3,100})@(?:tcp|unix)\(""",
        needs=("@tcp(", "@unix("),
    ),
    Form(
        "password in a connection string",  # a line of .pgpass
        ":543",
        r"(?m:^)[\w.*-]{1,100}:\d{4,5}:[\w*-]{1,60}:[\w.*-]{1,60}:(?P<value>[^\s:]{4,100})(?m:$)",
    ),
    Form(
        "Azure storage key",
        "key=",
        r"(?:account|sharedaccess|access)key=(?P<value>[A-Za-z0-9+/]{40,90}={0,2})",
        needs=("accountkey=", "accesskey="),
        least=40,
    ),
)
"""What stands in addresses."""

_HEADERS: Final = (
    Form(
        "authorization header",
        "authoriz",
        r"""
        authorization["']? \s{0,4}[:=,]\s{0,4} [fbr]?["']? \s{0,2}
        (?:bearer|basic|token|digest|apikey|api-key|bot|negotiate|splunk|key|ghost)?
        (?:\s{1,3}|=)? (?P<value>[\w.~+/=:-]{8,4000})
        """,
        least=8,
    ),
    Form(
        "authorization header",
        "bearer",
        r"\bbearer \s{1,3} (?P<value>[\w.~+/=:-]{16,4000})",
        least=16,
    ),
    Form(
        "authorization header",
        "basic ",
        r"\bbasic \s{1,3} (?P<value>[A-Za-z0-9+/]{12,400}={0,2})",
        least=12,
    ),
    *(
        Form(
            "session cookie",
            gate,
            opens
            + r"""
            \s{0,4} ["']? (?:[\w.-]{1,60}=[^\s;"']{0,400};\s{0,4}){0,12}?
            [\w.-]{0,40}
            (?:sess|sid|auth|token|jwt|login|remember|csrf|xsrf|account|user)[\w.-]{0,40}
            = (?P<value>[^\s;"',]{16,4000})
            """,
            least=16,
        )
        for gate, opens in (
            ("cookie", r"(?:cookie [\"']? \s{0,4} [:=] | --cookie[\s=])"),
            ("curl", r"\bcurl\b [^\n]{0,120}? \s-b"),
        )
    ),
    Form(
        "password hash",
        "$",
        r"""
        (?P<value> \$2[abxy]\$\d{2}\$[./A-Za-z0-9]{53}
          | \$(?:1|5|6|y|apr1|gy)\$[^\s$:"']{1,40}\$(?:[^\s$:"']{1,40}\$)?[./A-Za-z0-9]{22,90}
          | \$argon2(?:id|i|d)\$v=\d+\$[\w=,]{5,40}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{16,128}
          | \$?(?:pbkdf2|scrypt)[\w:-]{0,20}\$[^\s$"']{1,60}\$[A-Za-z0-9+/=.]{20,160}
            (?:\$[A-Za-z0-9+/=.]{20,160})? )
        """,
        least=-1,
    ),
    Form(
        "PayPal token",
        "access_token$",
        r"(?P<value>access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32})",
    ),
    Form(
        "private key",  # a JSON Web Key
        '"kty"',
        r"""["'](?:d|k|p|q|dp|dq|qi)["'] \s{0,4}:\s{0,4} ["'](?P<value>[\w-]{20,1400})["']""",
        least=20,
    ),
    Form(
        "password in code",
        "auth",
        r"""
        auth\w{0,8} \s{0,3}[=(]\s{0,3} \(? \s{0,3} ["'][^"'\n]{1,80}["'] \s{0,3},\s{0,3}
        ["'](?P<value>[^"'\n]{4,100})["'] \s{0,3}\)
        """,
    ),
    Form("wifi password", "wifi:", r"wifi:(?:[^\s;]{0,60};){0,4}? P:(?P<value>[^\s;]{4,80});"),
    Form(
        "Terraform token",
        "atlasv1.",
        r"(?<![A-Za-z0-9]) (?P<value>[A-Za-z0-9]{8,24}\.atlasv1\.[\w-]{40,120})",
    ),
    Form(
        "Google refresh token",
        "1//0",
        r"(?<![\w/]) (?P<value>1//0[\w-]{36,200})",
        least=30,
    ),
    Form(
        "Asana token",
        "/1",
        r"(?<![\w/.]) (?P<value>[0-2]/\d{16}(?:/\d{16})?:[0-9a-f]{32})\b",
    ),
)
"""What stands in headers, and other lines that are known by their form."""

_IN_COMMAND: Final = "password in a command"
_COMMANDS: Final = (
    Form(
        _IN_COMMAND,
        " -",
        r"""
        \b(?:curl|wget|https?|httpie)\b [^\n]{0,200}?
        \s(?:-u|--user|-a|--auth|-U|--proxy-user)(?:\s{1,3}|=) ["']?
        [\w.@+\\-]{1,80} : (?P<value>[^\s"']{3,100})
        """,
        needs=("-u", "--user", "--auth", "-a ", "--proxy-user"),
    ),
    Form(
        _IN_COMMAND,
        " -p",
        r"""
        (?:\bmysql\w{0,10} | \bmariadb\w{0,10})\b [^\n]{0,120}? \s-p(?P<mysql>[^\s"'-][^\s"']{3,60})
        | \bsshpass \s{1,3} -p \s{0,2} ["']? (?P<ssh>[^\s"']{3,80})
        | \bunzip \s{1,3} -P \s{0,2} ["']? (?P<zip>[^\s"']{3,80})
        """,
        needs=("mysql", "sshpass", "mariadb", "unzip"),
    ),
    Form(
        _IN_COMMAND,
        " -p",
        r"""
        \b(?:docker|podman|helm|az|cf|oc|skopeo)\b [^\n]{0,40}? \blogin\b [^\n]{0,120}?
        \s-p(?:\s{1,3}|=) ["']? (?P<login>[^\s"']{4,200})
        | \bmongo\w{0,6}\b [^\n]{0,120}? \s-p\s{1,3} ["']? (?P<mongo>[^\s"']{4,120})
        """,
        needs=("login", "mongo"),
    ),
    Form(
        _IN_COMMAND,
        "ldap",
        r"""\bldap\w{3,10}\b [^\n]{0,200}? \s-w\s{1,3} ["']? (?P<value>[^\s"']{4,80})""",
        needs=("-w",),
    ),
    Form(_IN_COMMAND, "smbclient", r"""\bsmbclient\b [^\n]{0,120}? % (?P<value>[^\s"']{4,80})"""),
    Form(
        _IN_COMMAND,
        "redis-cli",
        r"""\bredis-cli\b [^\n]{0,120}? \s-a\s{1,3} ["']? (?P<value>[^\s"']{4,120})""",
    ),
    Form(
        _IN_COMMAND,
        "pass:",
        r"""\bopenssl\b [^\n]{0,120}? \bpass: (?P<value>[^\s"']{4,120})""",
        needs=("openssl",),
    ),
    Form(
        _IN_COMMAND,
        "identified",
        r"""
        \bidentified \s{1,3} (?:with\s{1,3}\S{1,40}\s{1,3})? by \s{1,3} (?:password\s{1,3})?
        ["'](?P<value>[^"'\n]{4,100})["']
        """,
    ),
    Form(
        _IN_COMMAND,
        "securestring",
        r"""securestring \s{1,3} (?:-string\s{1,3})? ["'](?P<value>[^"'\n]{4,100})["']""",
    ),
    Form(
        _IN_COMMAND,
        "add_user",
        r"""\badd_user \s{1,3} [\w.-]{1,40} \s{1,3} ["']? (?P<value>[^\s"']{4,80})""",
    ),
    Form(
        _IN_COMMAND,
        "net user",
        r"""
        \bnet \s{1,3} user \s{1,3} [\w.-]{1,40} \s{1,3}
        (?P<value>[^\s/"'*][^\s"']{3,60}) \s{1,3} /(?:add|domain)
        """,
    ),
    Form(
        _IN_COMMAND,
        "echo",
        r"""
        \becho \s{1,3} (?:-n\s{1,3})? ["']? (?P<value>[^\s"'|]{4,200}) ["']? \s{0,3} \| \s{0,3}
        (?:sudo\s{1,3}-S | [^\n|]{0,80}--password-stdin | [^\n|]{0,30}\bpasswd\b)
        """,
        needs=("sudo", "--password-stdin", "passwd"),
    ),
)
"""What stands in commands."""


def _by_gate() -> dict[str, list[Form]]:
    forms = defaultdict(list)
    for form in (*_ADDRESSES, *_HEADERS, *_COMMANDS):
        forms[form.gate].append(form)
    return dict(forms)


_BY_GATE: Final = _by_gate()
_KEY_BLOCK_GATES: Final = ("-begin ", "- begin ", "private-lines:")
FORM_GATES: Final = (*_BY_GATE, *_KEY_BLOCK_GATES)
"""Texts, in lower case, without any of which there is no form in a text."""


def find_forms(text: str, low: str) -> Iterator[DetectedSpan]:
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
    yield from _key_blocks(text, low)


def _in_form(form: Form, text: str) -> Iterator[DetectedSpan]:
    for match in form.compiled.finditer(text):
        group = match.lastgroup or ""
        value = match[group]
        if form.least > 0:
            good = looks_random(value, form.least) or is_uuid(value)
        else:
            good = form.least < 0 or not stands_in(value)
        if good:
            yield form.kind, *match.span(group)


# Private keys in blocks of lines.

_BEGIN: Final = re.compile(r"-{4,5} ?BEGIN (?P<label>[A-Z0-9 .]{0,60})-{4,5}")
_END: Final = re.compile(r"-{4,5} ?END [A-Z0-9 .]{0,60}-{4,5}")
_SECRET: Final = re.compile(r"PRIVATE KEY|STATIC KEY")
_LINES: Final = re.compile(
    r"""
    (?: (?: \\[nrt] | [\s"'+,>] )*
        (?: [A-Za-z-]{4,20}:\ [^\n]{1,80}(?=\n)                     # Proc-Type: 4,ENCRYPTED
          | [A-Za-z0-9+/=]{20,} | [A-Za-z0-9+/]{1,20}={1,2} ) )*
    """,
    re.VERBOSE,
)
_PUTTY: Final = re.compile(r"Private-Lines:\s*\d+\s+(?P<value>[A-Za-z0-9+/=\s]{40,8000})")
_LONGEST: Final = 20_000
"""Characters of a block."""
_FEWEST: Final = 24
"""Letters and digits of a key; less is an example."""


def _key_blocks(text: str, low: str) -> Iterator[DetectedSpan]:
    """Return private keys from their first line to their last, or as far as they go.

    Args:
        text: What is looked through.
        low: The same in lower case, to see what can be there.
    """
    if "-begin " in low or "- begin " in low:
        yield from _blocks(text)
    if "private-lines:" in low:
        for match in _PUTTY.finditer(text):
            yield "private key", *match.span("value")


def _blocks(text: str) -> Iterator[DetectedSpan]:
    position = 0
    while begin := _BEGIN.search(text, position):
        position = begin.end()
        if not _SECRET.search(begin["label"]):
            continue
        limit = begin.end() + _LONGEST
        following = _BEGIN.search(text, position, limit)
        stop = following.start() if following else limit
        end = _END.search(text, position, stop)
        lines = None if end else _LINES.match(text, position, stop)
        last = end.start() if end else lines.end() if lines else position
        position = end.end() if end else last
        body = text[begin.end() : last]
        if sum(map(str.isalnum, body)) >= _FEWEST and not stands_in(body.strip()):
            yield "private key", begin.start(), position
