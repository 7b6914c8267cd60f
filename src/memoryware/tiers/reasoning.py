"""Remove inline reasoning from the answer of a model.

Providers send reasoning in content blocks of its own. Local models, and templates that were set
up for another model, leave it in the text: between tags, after a closing tag whose opening one was
part of the prompt, or in the channels of gpt-oss. Reasoning is guesswork that the model has not
said to anybody, so it must not become memory.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

_NAME: Final = (
    r"(?:[a-z]{1,16}:)?"  # <seed:think>, <thinking>
    r"(?:think|thinking|thoughts?|thought_process|reasoning|reflection|scratchpad"
    r"|(?:inner|internal)_monologue)"
)
_OPENING: Final = re.compile(
    rf"(?:<|&lt;)\s{{0,4}}{_NAME}(?:\s[^<>\n]{{0,200}})?(?:>|&gt;)"
    r"|\[think\]|\u25c1think\u25b7|<\|begin_of_thought\|>|<\|start_thinking\|>",
    re.IGNORECASE,
)
_LEADING: Final = re.compile(
    rf"[\s\u200b-\u200d\u2060\ufeff]*\*{{0,3}}(?:{_OPENING.pattern})", re.IGNORECASE
)
"""Invisible characters and the stars of bold text may stand before the first tag."""
_CLOSING: Final = re.compile(
    rf"(?:<|&lt;)\s{{0,4}}/\s{{0,4}}{_NAME}\s{{0,4}}(?:>|&gt;)"
    r"|\[/think\]|\u25c1/think\u25b7|<\|end_of_thought\|>|<\|end_thinking\|>",
    re.IGNORECASE,
)
"""Tags of DeepSeek, Qwen and most others; Magistral; Kimi; OpenThinker and Sky-T1; Command A."""
_BOLD_END: Final = re.compile(r"\*{1,3}(?=\s|\Z)")
_WRAPPED: Final = re.compile(
    r"\s*<(answer|response|final|final_answer|output)>(.*?)(?:</\1>\s*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
_WRAPPER: Final = re.compile(
    r"^<(?:answer|response|final|final_answer)>", re.IGNORECASE | re.MULTILINE
)
_CHANNELS: Final = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>")
_FINAL: Final = re.compile(r"<\|channel\|>final[^<]{0,100}<\|message\|>")
_END: Final = re.compile(r"<\|(?:end|return|call|start)\|>")
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MENTIONED: Final = re.compile(
    r"[^\S\n]*(?:[,;:`'\"\u201c\u201d)]|(?:is|are|was|were|has|have|had|does|do|should|must|may|can"
    r"|will|means?|marks?|opens?|starts?|begins?|wraps?|contains?|appears?|comes?|stands?|holds?"
    r"|tags?|tokens?|blocks?|elements?|sections?|and|or|in|on|of|for|to|ist|sind|und|oder|steht"
    r"|wird|muss|darf)\b)"
)
"""What follows a tag that a sentence is about: "<think> is the tag that ...". An answer begins with
a capital letter, so the words are compared with their case."""
_QUOTES: Final = "`'\"\u201c\u201d\u201e\u00ab\u00bb(["
_SENTENCE_ENDS: Final = ".!?\u3002\uff01\uff1f\u2026)"
_MENTION_WORDS: Final = 3
"""Words between two tags of which a sentence may speak: "<think> ... </think> blocks are cut"."""
_LOOK_BACK: Final = 500
"""Characters before a tag that are looked at, so that many tags take no quadratic time."""


def without_reasoning(text: str) -> str:
    """Return an answer without the inline reasoning of its model.

    A tag counts as reasoning where models put it: at the beginning of the answer, or at the
    beginning of a line between two paragraphs. A tag that a sentence mentions, or that stands in
    code, stays. So does an example that a line with a colon introduces.

    Args:
        text: The answer.

    Returns:
        The rest, without blanks at its ends; "" if there is nothing but reasoning.
    """
    if "think" not in (lowered := text.lower()) and not any(
        word in lowered for word in ("thought", "reason", "reflect", "scratch", "monolog", "<|")
    ):
        return text
    if _CHANNELS.match(text):
        return _final_channel(text)
    rest = _without_leading(text)
    rest = _without_leading(_after_stray_closing(rest))
    rest = _without_between(rest)
    if rest == text:
        return text
    wrapped = _WRAPPED.match(rest)
    return (wrapped[2] if wrapped else rest).strip()


def _final_channel(text: str) -> str:
    """Return the channel `final` of an answer of gpt-oss."""
    final = _FINAL.search(text)
    if final is None:
        return ""
    return _END.split(text[final.end() :], maxsplit=1)[0].strip()


def _without_leading(text: str) -> str:
    """Cut blocks of reasoning at the beginning, one after the other."""
    position = 0
    while (opening := _LEADING.match(text, position)) is not None:
        closing = _CLOSING.search(text, opening.end())
        if closing is None or _is_quoted(text, closing):
            if _MENTIONED.match(text, opening.end()):
                break
            answer = _WRAPPER.search(text, opening.end())
            return text[answer.start() :] if answer else ""  # cut off at the limit of tokens
        if _is_mention(text, opening, closing):
            break
        bold_end = _BOLD_END.match(text, closing.end()) if "*" in opening[0] else None
        position = (bold_end or closing).end()
    return text[position:]


def _after_stray_closing(text: str) -> str:
    """Cut the text before a closing tag whose opening tag was part of the prompt."""
    closings = list(_CLOSING.finditer(text))
    if not closings:
        return text
    code = _CodeBlocks(text)
    openings = [tag for tag in _OPENING.finditer(text) if not _MENTIONED.match(text, tag.end())]
    first = openings[0].start() if openings else len(text)
    first_line = next(
        (tag.start() for tag in openings if _begins_line(text, tag.start())), len(text)
    )
    for closing in reversed(closings):
        # A thought may speak of the opening tag; then the closing one has a line of its own.
        is_alone = _begins_line(text, closing.start()) and text[
            closing.end() : closing.end() + 1
        ] in ("", "\n")
        if (first_line if is_alone else first) < closing.start():
            continue  # a pair, which is looked at by itself
        if closing.start() in code or _is_quoted(text, closing):
            continue
        if _ends_sentence(text, closing):
            return text[closing.end() :]
    return text


def _without_between(text: str) -> str:
    """Cut blocks of reasoning between paragraphs or sentences of an answer."""
    closings = list(_CLOSING.finditer(text))
    starts, code = [tag.start() for tag in closings], _CodeBlocks(text)
    pieces, position = list[str](), 0
    while (opening := _OPENING.search(text, position)) is not None:
        following = bisect_left(starts, opening.end())
        if following == len(closings):
            is_alone = text[opening.end() : opening.end() + 1] == "\n"
            if is_alone and opening.start() not in code and _begins_block(text, opening.start()):
                return (
                    "".join(pieces) + text[position : opening.start()]
                )  # cut off while it thought
            break
        closing = closings[following]
        if opening.start() not in code and _is_block(text, opening, closing):
            pieces.append(text[position : opening.start()])
            position = closing.end()
        else:
            pieces.append(text[position : opening.end()])
            position = opening.end()
    return "".join(pieces) + text[position:]


def _is_block(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    if _begins_block(text, opening.start()):
        return not _is_mention(text, opening, closing)
    before = text[max(0, opening.start() - 2) : opening.start()]
    after = text[closing.end() : closing.end() + 1]
    words = len(text[opening.end() : closing.start()].split())
    between_sentences = before[:1] in _SENTENCE_ENDS and before[1:].isspace()
    return between_sentences and words > _MENTION_WORDS and (not after or after.isspace())


def _begins_line(text: str, start: int) -> bool:
    before = text[max(0, start - _LOOK_BACK) : start]
    return not before[before.rfind("\n") + 1 :].strip()


def _begins_block(text: str, start: int) -> bool:
    """Return whether a tag begins a line that is neither markup nor introduced as an example."""
    if start and text[start - 1] != "\n":
        return False
    before = text[max(0, start - _LOOK_BACK) : start].rstrip()
    last = before[before.rfind("\n") + 1 :]
    return not last.endswith((":", ">", "{", "(", ","))


def _is_mention(text: str, opening: re.Match[str], closing: re.Match[str]) -> bool:
    """Return whether a sentence speaks of a pair of tags: "<think> and </think> are cut"."""
    between = text[opening.end() : closing.start()]
    if len(between) > _LOOK_BACK or "\n" in between:
        return False
    return len(between.split()) <= _MENTION_WORDS and bool(_MENTIONED.match(text, closing.end()))


def _ends_sentence(text: str, closing: re.Match[str]) -> bool:
    """Return whether a closing tag ends what stands before it, rather than being spoken of."""
    before = text[max(0, closing.start() - _LOOK_BACK) : closing.start()]
    line = before[before.rfind("\n") + 1 :]
    if not line.strip():
        return not _MENTIONED.match(text, closing.end())
    return not line[-1].isspace() or line.rstrip()[-1] in _SENTENCE_ENDS


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    before = text[tag.start() - 1 : tag.start()] if tag.start() else ""
    after = text[tag.end() : tag.end() + 1]
    return bool(before) and before in _QUOTES and bool(after) and not after.isspace()


class _CodeBlocks:
    """The fenced code blocks of a text; a fence that is never closed begins none."""

    def __init__(self, text: str) -> None:
        self._starts, self._ends, opened = list[int](), list[int](), None
        for fence in _FENCE.finditer(text):
            if opened is None:
                opened = fence
            elif fence[1][0] == opened[1][0] and len(fence[1]) >= len(opened[1]):
                self._starts.append(opened.start())
                self._ends.append(fence.end())
                opened = None

    def __contains__(self, position: int) -> bool:
        block = bisect_left(self._starts, position + 1) - 1
        return block >= 0 and position < self._ends[block]
