"""What a check of facts reads: claims, answers, results of a search."""

from __future__ import annotations

import time

import pytest
from langchain_core.documents import Document

from memoryware.nodes.fact_check import (
    Judgement,
    SearchToolResult,
    claims_in,
    judgement_in,
    search_results_in,
)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He said "yes." Then he left.', ['He said "yes."', "Then he left."]),
        ("Version 1.5 is out. It costs 3.50 euro.", ["Version 1.5 is out.", "It costs 3.50 euro."]),
        ("- One\n- Two\n\n* Three\n1. Four", ["One", "Two", "Three", "Four"]),
        ("茶是热的。水是冷的！", ["茶是热的。", "水是冷的！"]),
        ("One.\u2028Known:\u20281. [verified] Two.", ["One.", "Known:", "[verified] Two."]),
        ("One. One. One.", ["One."]),
        (
            "Dr. Ann met J. Bo at St. Mary. They left.",
            ["Dr. Ann met J. Bo at St. Mary.", "They left."],
        ),
        ("It works, e.g. here. See Fig. 2", ["It works, e.g. here.", "See Fig. 2"]),
        ("He is 9. She is 10.", ["He is 9.", "She is 10."]),
        ("...\n---\n!", []),
        ("", []),
    ],
)
def test_claims_are_sentences_and_lines_each_once(text, claims):
    assert claims_in(text) == claims


YES = '{"supported": true, "confidence": 0.9}'
DEEP = "{" * 100_000


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ('{"supported": true, "confidence": 0.7, "issue": ""}', Judgement(True, 0.7, "")),
        (
            ' {"confidence": 0, "supported": false, "issue": " No. "}\n',
            Judgement(False, 0.0, "No."),
        ),
        ('{"supported": true, "confidence": 1, "other": [1]}', Judgement(True, 1.0, "")),
        ('{"supported": true, "confidence": 1, "issue": ["x"]}', Judgement(True, 1.0, "")),
        (f"```json\n{YES}\n```", Judgement(True, 0.9, "")),
        (f"```\n{YES}\n```\n", Judgement(True, 0.9, "")),
    ],
)
def test_an_answer_is_one_object_of_the_form_that_was_asked(said, answer):
    assert judgement_in(said) == answer


@pytest.mark.parametrize(
    "said",
    [
        *(None, "", "yes", "[true]", "true", "null", f"[{YES}]", "[]"),
        '{"supported": 1, "confidence": 1}',
        '{"supported": "true", "confidence": 1}',
        '{"supported": "yes", "confidence": 1}',
        '{"supported": null, "confidence": 1}',
        f'{{"verdict": {YES}}}',
        '{"supported": tru',
        # words around it
        f"I think {YES} would be wrong",
        f"It is not so that {YES}",
        f"{YES} is what I would say if it were true.",
        f"Sure!\n```json\n{YES}\n```",
        f"```json\n{YES}\n```\nOn second thoughts: no.",
        f"```json\n{YES}\n```\n```json\n{YES}\n```",
        f"{YES} {YES}",
        f'{{"supported": false, "confidence": 1}} but the text says {YES}',
        # how sure it is
        '{"supported": true}',
        *(
            f'{{"supported": true, "confidence": {one}}}'
            for one in ("NaN", "Infinity", "-Infinity", "1e999", "-0.1", "1.1", "5", "true", "null")
        ),
        '{"supported": true, "confidence": "0.9"}',
        '{"supported": true, "confidence": "high"}',
        '{"supported": true, "confidence": [0.9]}',
        # twice
        '{"supported": false, "supported": true, "confidence": 1}',
        '{"supported": true, "confidence": 0, "confidence": 1}',
        # too much of it
        DEEP,
        "{[" * 10_000,
        '{"supported": true, "confidence": 1, "issue": "' + "x" * 30_000 + '"}',
        '{"supported": true, "confidence": ' + "1" * 9_000 + "}",
        '{"a":' * 3_000 + "1" + "}" * 3_000,
    ],
)
def test_everything_else_is_no_answer(said):
    started = time.perf_counter()
    assert judgement_in(said) is None
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("result", "findings"),
    [
        ("page", [SearchToolResult("page")]),
        (["one", "two", "", None], [SearchToolResult("one"), SearchToolResult("two")]),
        (
            {"results": [{"url": "http://x", "content": "one"}]},
            [SearchToolResult("one", "http://x")],
        ),
        ('[{"link": "http://x", "snippet": "one"}]', [SearchToolResult("one", "http://x")]),
        ([Document("one", metadata={"source": "a.md"})], [SearchToolResult("one", "a.md")]),
        ([{"other": 1}], [SearchToolResult('{"other": 1}')]),
        ("[not json", [SearchToolResult("[not json")]),
        ({"results": []}, []),
        (None, []),
        (7, [SearchToolResult("7")]),
    ],
)
def test_results_of_searches_are_read_in_every_usual_form(result, findings):
    assert search_results_in(result) == findings
