"""What proves who came in, and that a form or a message is ours: nothing is kept on the server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field
from typing import Final

_HOUR: Final = 3600


@dataclass(slots=True)
class Keys:
    """Makes and checks signatures with one secret.

    Attributes:
        secret: What only this server knows; processes that share visitors share it.
        token: What the printed address has in it; "" once it was used.
    ended: Sessions that have been left in this process.
    """

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    ended: set[str] = field(default_factory=set)

    @property
    def cookie(self) -> str:
        """The name of the cookie; two servers on one host do not take each other's."""
        return f"memoryware-{self._mac('cookie')[:8]}"

    def exchange(self, token: str) -> str | None:
        """Return a new session for the token, which is used up by it; None if it is wrong."""
        if not self.token or not same(token, self.token):
            return None
        self.token = ""
        return self._signed("session", f"{int(time.time())}-{secrets.token_hex(16)}")

    def is_session(self, value: str, hours: float) -> bool:
        """Say whether a cookie is of a session that was begun here and is not too old."""
        begun = self._checked("session", value)
        if begun is None or value in self.ended:
            return False
        return time.time() - int(begun.partition("-")[0]) < hours * _HOUR

    def end(self, session: str) -> None:
        """Let nobody in with a session any more, also not who has a copy of its cookie."""
        self.ended.add(session)

    def form_token(self, session: str) -> str:
        """Return what every form of a session carries."""
        return self._mac("form", session)

    def message(self, session: str, text: str) -> str:
        """Return a text that only this session can be told."""
        coded = base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode()
        return f"{coded}.{self._mac('message', session, coded)}"

    def message_in(self, session: str, value: str) -> str | None:
        """Return the text that `message` wrote; None if somebody else did."""
        coded, _, mac = value.partition(".")
        if not same(mac, self._mac("message", session, coded)):
            return None
        return base64.urlsafe_b64decode(coded).decode()

    def _signed(self, what: str, value: str) -> str:
        return f"{value}.{self._mac(what, value)}"

    def _checked(self, what: str, value: str) -> str | None:
        said, _, mac = value.rpartition(".")
        return said if said and same(mac, self._mac(what, said)) else None

    def _mac(self, *parts: str) -> str:
        said = "\n".join(f"{len(one)}:{one}" for one in parts).encode("utf-8", "replace")
        return hmac.new(self.secret.encode(), said, hashlib.sha256).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare two secrets in a time that does not say where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode("utf-8", "replace"))
