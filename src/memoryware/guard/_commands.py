"""Passwords in command lines and statements; data only."""

from __future__ import annotations

from typing import Final

from memoryware.guard._form import Form

_KIND: Final = "password in a command"
COMMANDS: Final = (
    Form(
        _KIND,
        " -",
        r"""
        \b(?:curl|wget|https?|httpie)\b [^\n]{0,200}?
        \s(?:-u|--user|-a|--auth|-U|--proxy-user)(?:\s{1,3}|=) ["']?
        [\w.@+\\-]{1,80} : (?P<value>[^\s"']{3,100})
        """,
        needs=("-u", "--user", "--auth", "-a ", "--proxy-user"),
    ),
    Form(
        _KIND,
        " -p",
        r"""
        (?:\bmysql\w{0,10} | \bmariadb\w{0,10})\b [^\n]{0,120}? \s-p(?P<mysql>[^\s"'-][^\s"']{3,60})
        | \bsshpass \s{1,3} -p \s{0,2} ["']? (?P<ssh>[^\s"']{3,80})
        | \bunzip \s{1,3} -P \s{0,2} ["']? (?P<zip>[^\s"']{3,80})
        """,
        needs=("mysql", "sshpass", "mariadb", "unzip"),
    ),
    Form(
        _KIND,
        " -p",
        r"""
        \b(?:docker|podman|helm|az|cf|oc|skopeo)\b [^\n]{0,40}? \blogin\b [^\n]{0,120}?
        \s-p(?:\s{1,3}|=) ["']? (?P<login>[^\s"']{4,200})
        | \bmongo\w{0,6}\b [^\n]{0,120}? \s-p\s{1,3} ["']? (?P<mongo>[^\s"']{4,120})
        """,
        needs=("login", "mongo"),
    ),
    Form(
        _KIND,
        "ldap",
        r"""\bldap\w{3,10}\b [^\n]{0,200}? \s-w\s{1,3} ["']? (?P<value>[^\s"']{4,80})""",
        needs=("-w",),
    ),
    Form(_KIND, "smbclient", r"""\bsmbclient\b [^\n]{0,120}? % (?P<value>[^\s"']{4,80})"""),
    Form(
        _KIND,
        "redis-cli",
        r"""\bredis-cli\b [^\n]{0,120}? \s-a\s{1,3} ["']? (?P<value>[^\s"']{4,120})""",
    ),
    Form(
        _KIND,
        "pass:",
        r"""\bopenssl\b [^\n]{0,120}? \bpass: (?P<value>[^\s"']{4,120})""",
        needs=("openssl",),
    ),
    Form(
        _KIND,
        "identified",
        r"""
        \bidentified \s{1,3} (?:with\s{1,3}\S{1,40}\s{1,3})? by \s{1,3} (?:password\s{1,3})?
        ["'](?P<value>[^"'\n]{4,100})["']
        """,
    ),
    Form(
        _KIND,
        "securestring",
        r"""securestring \s{1,3} (?:-string\s{1,3})? ["'](?P<value>[^"'\n]{4,100})["']""",
    ),
    Form(
        _KIND,
        "add_user",
        r"""\badd_user \s{1,3} [\w.-]{1,40} \s{1,3} ["']? (?P<value>[^\s"']{4,80})""",
    ),
    Form(
        _KIND,
        "net user",
        r"""
        \bnet \s{1,3} user \s{1,3} [\w.-]{1,40} \s{1,3}
        (?P<value>[^\s/"'*][^\s"']{3,60}) \s{1,3} /(?:add|domain)
        """,
    ),
    Form(
        _KIND,
        "echo",
        r"""
        \becho \s{1,3} (?:-n\s{1,3})? ["']? (?P<value>[^\s"'|]{4,200}) ["']? \s{0,3} \| \s{0,3}
        (?:sudo\s{1,3}-S | [^\n|]{0,80}--password-stdin | [^\n|]{0,30}\bpasswd\b)
        """,
        needs=("sudo", "--password-stdin", "passwd"),
    ),
)
"""What stands in commands."""
