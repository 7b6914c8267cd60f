"""Inline reasoning of local models is cut; text that mentions such a tag stays as it is."""

from __future__ import annotations

import time

import pytest

from memoryware.tiers.reasoning import without_reasoning

ANSWER = "The nightly backup of the orders goes to the bucket cold-7."
THOUGHT = "The customer may be a competitor, so I must be careful with what I say."


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}",
        f"<thinking>{THOUGHT}</thinking>{ANSWER}",
        f"<reasoning>\n{THOUGHT}\n</reasoning>\n{ANSWER}",
        f"<THINK>{THOUGHT}</THINK>\n{ANSWER}",
        f"  <think type='deep'>{THOUGHT}</think>{ANSWER}",
        f"<seed:think>{THOUGHT}</seed:think>{ANSWER}",
        f"<think>{THOUGHT}</thinking>{ANSWER}",
        f"<think>\n\n</think>\n\n{ANSWER}",
        f"&lt;think&gt;{THOUGHT}&lt;/think&gt;{ANSWER}",
        f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
        f"\u25c1think\u25b7{THOUGHT}\u25c1/think\u25b7{ANSWER}",
        f"<|begin_of_thought|>{THOUGHT}<|end_of_thought|>\n\n{ANSWER}",
        (
            f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant"
            f"<|channel|>final<|message|>{ANSWER}<|return|>"
        ),
        f"<think>one</think>\n<think>two</think>\n{ANSWER}",
        f"<think>a <think>b</think> c</think>{ANSWER}",
        f"<think>I should not write <think> again.</think>\n\n{ANSWER}",
        f"<think>\nthe tag </think> is odd\n</think>\n\n{ANSWER}",
        f"<think>```py\nx = 1\n</think>\n{ANSWER}",
        f"<reasoning>{THOUGHT}</reasoning>\n<answer>{ANSWER}</answer>",
        f"<think>{THOUGHT}\n<answer>{ANSWER}</answer>",
        f"{THOUGHT}\n</think>\n\n{ANSWER}",
        f"{THOUGHT}\n</think>\n{ANSWER}",
        f"{THOUGHT}</think>{ANSWER}",
        f"{THOUGHT} </think> {ANSWER}",
        f"1. First step.\n2. Second step\n</thinking>\n\n{ANSWER}",
        f"I must not use <think> tags.\n</think>\n\n{ANSWER}",
        f"{ANSWER}\n<think>{THOUGHT}</think>",
        f"{ANSWER}\n\n<thinking>\n{THOUGHT} And then I was cut",
    ],
)
def test_reasoning_is_cut_and_the_answer_stays(text):
    assert without_reasoning(text) == ANSWER


@pytest.mark.parametrize("gap", ["\n\n", "\n", " "])
def test_reasoning_between_parts_of_an_answer_is_cut(gap):
    rest = without_reasoning(f"{ANSWER}{gap}<think>{THOUGHT}</think>{gap}It runs at three.")
    assert rest.split() == f"{ANSWER} It runs at three.".split()


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\n{THOUGHT}",
        f"<think>{THOUGHT}</think>",
        f"<thinking>{THOUGHT}\n\nAnd more of it",
        f"<|channel|>analysis<|message|>{THOUGHT}",
    ],
)
def test_an_answer_that_is_nothing_but_reasoning_is_empty(text):
    assert without_reasoning(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "I think that the reasoning is right.",
        "The parser strips everything between <think> and </think> before it is stored.",
        "We decided to log <reasoning> and not <think> for the audit.",
        "Use `<think>` to open and `</think>` to close the thoughts of a model.",
        "<think> is the tag that DeepSeek uses.",
        "<think> and </think> are the tags of Qwen.",
        "<think>...</think> blocks are removed by the client.",
        "Wrap it in <think>...</think> tags, then answer.",
        "The closing tag </think> is often missing.",
        "The block ends with </think>\nThen the answer follows.",
        "`</think>` ends the thoughts.",
        '"</think>" closes it.',
        "- <think>: opens\n- </think>: closes",
        "```xml\n<think>\nhello there you\n</think>\n```",
        "Here is code:\n\n```python\ntext.split('</think>')[-1]\n```\nDone.",
        "def f():\n    return re.sub('<think>.*</think>', '', x)",
        "The regex r'<think>.*?</think>' removes the thoughts.",
        "Use this template:\n<thinking>\nYour thoughts\n</thinking>\nand go on.",
        "<prompt>\n<thinking>\n{{ thoughts }}\n</thinking>\n</prompt>",
    ],
)
def test_text_or_code_that_mentions_a_tag_stays(text):
    assert without_reasoning(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 10_000 + "</think>",
        "</think>" * 10_000,
        "<think></think>" * 5_000,
        "a <think>\n" * 7_000 + "</think>",
        "\n<think> " * 6_000 + "</think> x" * 1_000,
        "```\n" * 15_000 + "<think>" * 2_500 + "</think>" * 2_500,
        "<answer>" * 10_000 + "think",
        "< " * 25_000 + "think",
        " " * 100_000 + "think",
    ],
)
def test_hostile_text_takes_linear_time(text):
    start = time.process_time()
    without_reasoning(text)
    assert time.process_time() - start < 1.0
