"""Signed sessions, form tokens and messages; the server stores nothing."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from itsdangerous import BadData, Signer, URLSafeSerializer, URLSafeTimedSerializer

_HOUR: Final = 3600
# The default of itsdangerous is SHA-1, kept there for old cookies.
_SIGNING: Final[dict[str, Any]] = {"digest_method": hashlib.sha256, "key_derivation": "hmac"}


@dataclass(slots=True)
class Keys:
    """Signs sessions, form tokens and messages with one secret (HMAC with SHA-256).

    Attributes:
        secret: The key; processes that share sessions need the same one.
        token: The token in the printed URL; "" once it was used.
        ended: Ids of the sessions that were ended in this process.
    """

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    ended: set[str] = field(default_factory=set)

    @property
    def cookie(self) -> str:
        """The name of the cookie; it depends on the secret, as ports of a host share cookies."""
        return f"memoryware-{self._signature('cookie')[:8]}"

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
        return str(self._sessions().dumps(secrets.token_hex(16)))

    def is_session(self, value: str, hours: float) -> bool:
        """Whether the value of a cookie is a valid session.

        Args:
            value: The value of the cookie.
            hours: How long a session is valid.

        Returns:
            True if it was signed with this secret, is not too old, and was not ended.
        """
        id_ = self._session_id(value, max_age=hours * _HOUR - 1)  # an age of max_age is still valid
        return id_ is not None and id_ not in self.ended

    def end(self, session: str) -> None:
        """Invalidate a session, for copies of its cookie as well.

        Args:
            session: The value of the cookie.
        """
        # Not the value itself: one signature has several spellings in base64.
        id_ = self._session_id(session)
        if id_ is not None:
            self.ended.add(id_)

    def form_token(self, session: str) -> str:
        """Return the CSRF token of a session.

        Args:
            session: The value of the cookie.

        Returns:
            The token that every form must contain.
        """
        return self._signature("form", session)

    def message(self, session: str, text: str) -> str:
        """Sign a message for a session.

        Args:
            session: The value of the cookie.
            text: The message.

        Returns:
            The encoded message, for the query of a URL.
        """
        return str(self._messages(session).dumps(text))

    def message_in(self, session: str, value: str) -> str | None:
        """Verify a message.

        Args:
            session: The value of the cookie.
            value: What `message` returned.

        Returns:
            The text; None if it was not signed for this session.
        """
        try:
            return str(self._messages(session).loads(_encoded(value)))
        except BadData:
            return None

    def undo(self, session: str, record: Mapping[str, Any]) -> str:
        """Sign what it takes to undo an action, for a session.

        Args:
            session: The value of the cookie.
            record: What it takes, as JSON.

        Returns:
            The encoded record, for the query of a URL.
        """
        return str(self._undos(session).dumps(record))

    def undo_in(self, session: str, value: str, hours: float) -> dict[str, Any] | None:
        """Verify what it takes to undo an action.

        Args:
            session: The value of the cookie.
            value: What `undo` returned.
            hours: How long it is valid.

        Returns:
            The record; None if it was not signed for this session, or is too old.
        """
        limit: Any = hours * _HOUR
        try:
            record = self._undos(session).loads(_encoded(value), max_age=limit)
        except BadData:
            return None
        return record if isinstance(record, dict) else None

    def read_proof(self, session: str, text: str) -> str:
        """Return the proof that a page has shown a text to its end.

        Args:
            session: The value of the cookie.
            text: The whole text.

        Returns:
            A signature, for the form below the text.
        """
        digest = hashlib.sha256(_encoded(text)).hexdigest()
        return self._signature("read", f"{session}\n{digest}")

    def _session_id(self, value: str, max_age: float | None = None) -> str | None:
        limit: Any = max_age  # declared as whole seconds, compared as a number
        try:
            return str(self._sessions().loads(_encoded(value), max_age=limit))
        except BadData:
            return None

    def _sessions(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(self.secret, salt="session", signer_kwargs=_SIGNING)

    def _messages(self, session: str) -> URLSafeSerializer:
        salt = _encoded(f"message\n{session}")
        return URLSafeSerializer(self.secret, salt=salt, signer_kwargs=_SIGNING)

    def _undos(self, session: str) -> URLSafeTimedSerializer:
        salt = _encoded(f"undo\n{session}")
        return URLSafeTimedSerializer(self.secret, salt=salt, signer_kwargs=_SIGNING)

    def _signature(self, purpose: str, value: str = "") -> str:
        signer = Signer(self.secret, salt=purpose, **_SIGNING)
        return signer.get_signature(_encoded(value)).decode()


def same(first: str, second: str) -> bool:
    """Compare two secrets in constant time."""
    return hmac.compare_digest(_encoded(first), _encoded(second))


def _encoded(text: str) -> bytes:
    """Encode a text of a request, which may hold what no UTF-8 has."""
    return text.encode("utf-8", "replace")
