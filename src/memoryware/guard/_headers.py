"""Secrets in headers, cookies, password files and well-known lines; data only."""

from __future__ import annotations

from typing import Final

from memoryware.guard._form import Form

HEADERS: Final = (
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
