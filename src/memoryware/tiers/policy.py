"""Promotion policies: what a promotion needs, and what is promoted without a decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Self

from memoryware.errors import SettingError
from memoryware.tiers.provenance import Trust

_AT_ONCE: Final = timedelta(0)
_SEVERAL: Final = 2
_A_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionPolicy:
    """The requirements of a promotion. By default anyone may promote anything.

    `reviewed()`, `trusted_users()`, `corroborated()` and `automatic()` are ready-made ones. With
    `promotes_after` texts that qualify are promoted without a decision, by the actor
    `policy:<name>`: by `promote_due`, which `TieredMemoryMiddleware` calls at the end of each run,
    and a `MemoryManager` after it has extracted facts.
    Never promoted so are questions and courtesy, echoes, verdicts, what a person has rejected or
    revoked, what is true of one moment only, and what contradicts memory that others share.

    Attributes:
        corroboration: From how many independent origins the same must have come. Two texts
            are independent if different people stand behind them, or different agents in
            different runs if nobody else does, and neither is made of the other. What came from
            outside does not count, nor does the word of whoever promotes. Somebody without an
            id may be anybody.
        approval: Whether a person must promote. A bare `by`, "person:..." and "user:..." are
            people; every other prefix, and names such as "agent-helper", are machines.
        four_eyes: Whether somebody else must have proposed it: `propose(...)` by one, then
            `promote(...)` by another. Nobody who ever proposed the text may promote it.
        min_trust: The least trust of the text.
        similarity: Share of words that two texts must have in common to say the same. With 1
            they must have the same words in the same order. With less, names, numbers and
            denials must agree, and what else is said in other words is taken on trust.
        promotes_after: How long a text waits for a reviewer before it is promoted without a
            decision; None never promotes so.
        promotes_trust: The least trust of what is promoted without a decision.
        personal: Whether only what a signed-in user says of themselves is promoted without a
            decision, and shown to that user alone.
        name: The name of the policy, as records name it.

    Raises:
        SettingError: For a number outside its range, or a policy that asks for a person and
            promotes without one.
    """

    corroboration: int = 0
    approval: bool = False
    four_eyes: bool = False
    min_trust: Trust = Trust.UNTRUSTED
    similarity: float = 1.0
    promotes_after: timedelta | None = None
    promotes_trust: Trust = Trust.UNVERIFIED
    personal: bool = False
    name: str = "reviewed"

    def __post_init__(self) -> None:
        count: Any = self.corroboration
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise SettingError(f"corroboration={count!r}: must be a whole number, at least 0")
        for name in ("approval", "four_eyes", "personal"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(f"{name}={getattr(self, name)!r}: must be True or False")
        if not 0 < self.similarity <= 1:
            raise SettingError(f"similarity={self.similarity!r}: must be above 0 and at most 1")
        for name in ("min_trust", "promotes_trust"):
            if getattr(self, name) not in tuple(Trust):
                raise SettingError(f"{name}={getattr(self, name)!r}: must be a Trust")
        self._check_automatic()

    def _check_automatic(self) -> None:
        after: Any = self.promotes_after
        if after is not None and not (isinstance(after, timedelta) and after >= _AT_ONCE):
            raise SettingError(
                f"promotes_after={after!r}: must be a timedelta of at least 0, such as"
                " timedelta(days=1), or None"
            )
        if after is not None and (self.approval or self.four_eyes):
            raise SettingError(
                "approval=True and four_eyes=True need a person for each promotion; leave"
                " promotes_after out, or these"
            )
        if self.personal and after is None:
            raise SettingError("personal=True: needs promotes_after, such as timedelta(0)")
        name: Any = self.name
        if not isinstance(name, str) or not name.strip():
            raise SettingError(f"name={self.name!r}: must be a text that is not empty")

    @property
    def actor(self) -> str:
        """The `by` of what is promoted without a decision."""
        return f"policy:{self.name}"

    @classmethod
    def recipe(cls, name: str, *, after: timedelta | None = None, **settings: Any) -> Self:
        """Return a ready-made policy by its name, as a configuration has it.

        Args:
            name: "reviewed", "trusted_users", "corroborated" or "automatic".
            after: How long a statement waits for a reviewer; None for the default of the policy.
            settings: Other values of its attributes.

        Returns:
            The policy.

        Raises:
            SettingError: For an unknown name or setting.
        """
        makers = {
            "reviewed": cls.reviewed,
            "trusted_users": cls.trusted_users,
            "corroborated": cls.corroborated,
            "automatic": cls.automatic,
        }
        if str(name) not in makers:
            raise SettingError(f"recipe={name!r}: must be one of {', '.join(makers)}")
        policy = makers[str(name)]()
        if after is not None:
            if policy.promotes_after is None:
                raise SettingError(f"after={after!r}: {name} promotes nothing without a decision")
            settings["promotes_after"] = after
        try:
            return replace(policy, **settings)
        except TypeError as error:
            raise SettingError(f"policy: {error}") from None

    @classmethod
    def reviewed(cls) -> Self:
        """Return the default policy: nothing is promoted without a decision.

        Returns:
            The policy.
        """
        return cls()

    @classmethod
    def trusted_users(cls, *, after: timedelta = _AT_ONCE) -> Self:
        """Return a policy that promotes what users say of themselves, each for themselves alone.

        "I prefer metric units" of a signed-in user is promoted at the end of the run. It is
        shown to that user only, and so is what was recorded of it in working memory. A newer
        statement supersedes the user's own older one of the same subject, or that it
        contradicts; what others have promoted stays as it is.

        Args:
            after: How long a statement waits for a reviewer.

        Returns:
            The policy.
        """
        return cls(
            promotes_after=after, promotes_trust=Trust.USER, personal=True, name="trusted_users"
        )

    @classmethod
    def corroborated(
        cls, count: int = 2, *, similarity: float = 1.0, after: timedelta = _AT_ONCE
    ) -> Self:
        """Return a policy that promotes what several people have said independently.

        A person who promotes needs the same support.

        Args:
            count: How many independent people; at least 2.
            similarity: The share of words that two texts must have in common to say the same.
            after: How long a statement waits for a reviewer.

        Returns:
            The policy.

        Raises:
            SettingError: For a number below 2.
        """
        number: Any = count
        if not isinstance(number, int) or isinstance(number, bool) or number < _SEVERAL:
            raise SettingError(f"count={count!r}: must be a whole number, at least 2")
        return cls(
            corroboration=count,
            similarity=similarity,
            promotes_after=after,
            promotes_trust=Trust.USER,
            name="corroborated",
        )

    @classmethod
    def automatic(cls, *, after: timedelta = _A_DAY, except_outside: bool = True) -> Self:
        """Return a policy that promotes what nobody has objected to for a while.

        Statements of users and of agents are promoted for the group; `reject` before, or `revoke`
        afterwards, undoes it.

        Args:
            after: How long a statement waits for a reviewer.
            except_outside: Whether text from outside is never promoted so. Otherwise it is, and
                still shown only to the user in whose run it came, until a person promotes it.

        Returns:
            The policy.

        Raises:
            SettingError: For a time below 0, or a value that is not a bool.
        """
        is_choice: Any = except_outside
        if not isinstance(is_choice, bool):
            raise SettingError(f"except_outside={except_outside!r}: must be True or False")
        least = Trust.UNVERIFIED if except_outside else Trust.UNTRUSTED
        return cls(promotes_after=after, promotes_trust=least, name="automatic")
