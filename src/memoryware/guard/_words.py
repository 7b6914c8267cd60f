"""What an identifier or a word announces: a password, a key, a code, or no secret at all."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from memoryware._remembering import remembered
from memoryware.guard import _lexicon as lexicon


class Sort(Enum):
    """What a word announces; the value is what a person is told."""

    PASSWORD = "password"  # noqa: S105
    PIN = "PIN"
    CODE = "access code"
    CARD = "card code"
    LOGIN = "log-in"
    SECRET = "secret"  # noqa: S105
    TOKEN = "token"  # noqa: S105
    KEY = "key"
    SEED = "seed phrase"
    OPENER = "code"


UNSPACED: Final = {
    **dict.fromkeys(
        lexicon.listed(
            "密码 密碼 口令 パスワード パスコード 合言葉 비밀번호 비번 암호 รหัสผ่าน पासवर्ड"
            " 暗証番号 パスフレーズ 暗証 门禁码 門禁碼 pin码 pin碼 pinコード"
        ),
        Sort.PASSWORD,
    ),
    **dict.fromkeys(
        lexicon.listed("密钥 密鑰 令牌 トークン シークレット apiキー キー 토큰 키"), Sort.TOKEN
    ),
}
"""Words, in lower case, of scripts that put no blank or other marks between words."""
_SORTS: Final = (
    (lexicon.PASSWORDS, Sort.PASSWORD),
    (lexicon.SECRETS, Sort.SECRET),
    (lexicon.TOKENS, Sort.TOKEN),
    (lexicon.PINS, Sort.PIN),
    (lexicon.CODES, Sort.CODE),
    (lexicon.CARD_CODES, Sort.CARD),
    (lexicon.LOGINS, Sort.LOGIN),
    (lexicon.SEEDS, Sort.SEED),
    (lexicon.OPENERS, Sort.OPENER),
)
_ENDINGS: Final = (
    (Sort.PASSWORD, lexicon.listed("password passwd passphrase passwort kennwort wachtwoord pwd")),
    (Sort.SECRET, ("secret",)),
    (Sort.TOKEN, ("token", "apikey")),
)
_NEUTRAL: Final = re.compile(
    r"^(?:\d{1,3}|prod|production|dev|development|stage|staging|test|testing|live|old|new|main|"
    r"primary|secondary|base64|b64|v\d|default|value|val|plain|text|admin|root|user|local|str|s)$"
)
"""What an identifier may end with after the word that counts: `password_2`, `token_prod`."""
_SPLIT: Final = re.compile(
    r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+"  # HTTPServer, camelCase, 2, 中文
)
_LONGEST: Final = 80
"""Characters of an identifier that are looked at, from its end."""


@remembered(4096)
def sort_of(word: str) -> tuple[Sort, bool] | None:
    """Return what an identifier announces and whether it ends with that word; None for nothing.

    `DB_PASSWORD` and `dbPassword` announce a password, `password_hash` and `keyboard` nothing.
    """
    parts = [one.lower() for one in _SPLIT.findall(word[-_LONGEST:])]
    while len(parts) > 1 and _NEUTRAL.match(parts[-1]):
        parts.pop()
    for place in range(len(parts) - 1, -1, -1):
        before = parts[place - 1] if place else ""
        sort = _sort(parts[place], before)
        if sort is not None:
            otherwise = before in lexicon.SAYS_OTHERWISE
            return None if otherwise else (sort, place == len(parts) - 1)
        if parts[place] in lexicon.SOMETHING_ELSE:
            return None
    return None


def announces(word: str) -> bool:
    """Say whether a word announces a secret, and so is none itself."""
    return sort_of(word) is not None


def _sort(part: str, before: str) -> Sort | None:
    if part in lexicon.KEYS:
        if before in lexicon.NETWORKS:
            return Sort.PASSWORD
        return Sort.TOKEN if before in lexicon.KEYED else Sort.KEY
    for words, sort in _SORTS:
        if part in words:
            return Sort.PIN if sort is Sort.CODE and before in lexicon.PINS else sort
    if part.startswith(lexicon.PASSWORD_STARTS):
        return Sort.PASSWORD
    return next((sort for sort, endings in _ENDINGS if part.endswith(endings)), None)
