"""Secrets in URLs and connection strings; data only."""

from __future__ import annotations

from typing import Final

from memoryware.guard._form import Form

ADDRESSES: Final = (
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
