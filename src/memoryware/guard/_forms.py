"""Secrets that are known by the form they stand in: addresses, headers, commands, key blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from memoryware.guard import _key_blocks, _plausible
from memoryware.guard._addresses import ADDRESSES
from memoryware.guard._commands import COMMANDS
from memoryware.guard._form import Form
from memoryware.guard._headers import HEADERS
from memoryware.guard.finding import Span


def _by_gate() -> dict[str, list[Form]]:
    forms = defaultdict(list)
    for form in (*ADDRESSES, *HEADERS, *COMMANDS):
        forms[form.gate].append(form)
    return dict(forms)


_BY_GATE: Final = _by_gate()


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
    yield from _key_blocks.find(text, low)


def _in_form(form: Form, text: str) -> Iterator[Span]:
    for match in form.compiled.finditer(text):
        group = match.lastgroup or ""
        value = match[group]
        if form.least > 0:
            good = _plausible.looks_random(value, form.least) or _plausible.is_uuid(value)
        else:
            good = form.least < 0 or not _plausible.stands_in(value)
        if good:
            yield form.kind, *match.span(group)
