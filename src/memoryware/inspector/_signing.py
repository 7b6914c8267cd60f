"""Signed sessions, form tokens and messages; the server stores nothing."""

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
    """Signs sessions, form tokens and messages with one secret (HMAC with SHA-256).

    Attributes:
        secret: The key; processes that share sessions need the same one.
        token: The token in the printed URL; "" once it was used.
        ended: Sessions that were ended in this process.
    """

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    ended: set[str] = field(default_factory=set)

    @property
    def cookie(self) -> str:
        """The name of the cookie; it depends on the secret, as ports of a host share cookies."""
        return f"memoryware-{self._mac('cookie')[:8]}"

    def exchange(self, token: str) -> str | None:
        """Start a session for the token, which works once.

        Args:
            token: The token of the printed URL.

        Returns:
            A signed session for the cookie; None if the token is wrong or was used.
        """
        if not self.token or not same(token, self.token):
            return None
        self.token = ""
        return self._signed("session", f"{int(time.time())}-{secrets.token_hex(16)}")

    def is_session(self, value: str, hours: float) -> bool:
        """Whether the value of a cookie is a valid session.

        Args:
            value: The value of the cookie.
            hours: How long a session is valid.

        Returns:
            True if it was signed with this secret, is not too old, and was not ended.
        """
        started = self._checked("session", value)
        if started is None or value in self.ended:
            return False
        return time.time() - int(started.partition("-")[0]) < hours * _HOUR

    def end(self, session: str) -> None:
        """Invalidate a session, for copies of its cookie as well.

        Args:
            session: The value of the cookie.
        """
        self.ended.add(session)

    def form_token(self, session: str) -> str:
        """Return the CSRF token of a session.

        Args:
            session: The value of the cookie.

        Returns:
            The token that every form must contain.
        """
        return self._mac("form", session)

    def message(self, session: str, text: str) -> str:
        """Sign a message for a session.

        Args:
            session: The value of the cookie.
            text: The message.

        Returns:
            The encoded message, for the query of a URL.
        """
        coded = base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode()
        return f"{coded}.{self._mac('message', session, coded)}"

    def message_in(self, session: str, value: str) -> str | None:
        """Verify a message.

        Args:
            session: The value of the cookie.
            value: What `message` returned.

        Returns:
            The text; None if it was not signed for this session.
        """
        coded, _, mac = value.partition(".")
        if not same(mac, self._mac("message", session, coded)):
            return None
        return base64.urlsafe_b64decode(coded).decode()

    def _signed(self, purpose: str, value: str) -> str:
        return f"{value}.{self._mac(purpose, value)}"

    def _checked(self, purpose: str, value: str) -> str | None:
        signed, _, mac = value.rpartition(".")
        return signed if signed and same(mac, self._mac(purpose, signed)) else None

    def _mac(self, *parts: str) -> str:
        message = "\n".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "replace")
        return hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()


def same(first: str, second: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(first.encode("utf-8", "replace"), second.encode("utf-8", "replace"))
