"""What a check of facts reads: claims, answers, results of a search."""

from __future__ import annotations

import time

import pytest
from langchain_core.documents import Document

from memoryware.nodes._judging import Answer, Finding, answer_in, claims_in, findings_in


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


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ('{"supported": true, "confidence": 0.7, "issue": ""}', Answer(True, 0.7, "")),
        ('{"supported": "False", "issue": " No. "}', Answer(False, 1.0, "No.")),
        ('Well {as I see it}: {"supported": true}. Done {}.', Answer(True, 1.0, "")),
        ('```json\n{"supported": false, "confidence": "high"}\n```', Answer(False, 0.5, "")),
        ('{"supported": true} {"supported": true, "confidence": 0.2}', Answer(True, 0.2, "")),
        ('{"supported": true, "confidence": -1, "issue": ["x"]}', Answer(True, 0.5, "")),
    ],
)
def test_an_answer_is_found_in_what_a_model_says(said, answer):
    assert answer_in(said) == answer


@pytest.mark.parametrize(
    "said",
    [
        None,
        "",
        "yes",
        "[true]",
        '{"supported": 1}',
        '{"supported": null}',
        '{"verdict": {"supported": true}}',
        '{"supported": tru',
        '{"supported": false} but the text says {"supported": true}',
        "{" * 100_000,
        "{[" * 10_000,
    ],
)
def test_what_cannot_be_read_or_does_not_agree_is_no_answer(said):
    started = time.perf_counter()
    assert answer_in(said) is None
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("result", "findings"),
    [
        ("page", [Finding("page")]),
        (["one", "two", "", None], [Finding("one"), Finding("two")]),
        ({"results": [{"url": "http://x", "content": "one"}]}, [Finding("one", "http://x")]),
        ('[{"link": "http://x", "snippet": "one"}]', [Finding("one", "http://x")]),
        ([Document("one", metadata={"source": "a.md"})], [Finding("one", "a.md")]),
        ([{"other": 1}], [Finding('{"other": 1}')]),
        ("[not json", [Finding("[not json")]),
        ({"results": []}, []),
        (None, []),
        (7, [Finding("7")]),
    ],
)
def test_results_of_searches_are_read_in_every_usual_form(result, findings):
    assert findings_in(result) == findings
