"""Small data sets, made up, in the shapes of the real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "recall"


def talk(**questions: Any) -> dict[str, Any]:
    """A conversation of LoCoMo with two sittings."""
    qa = [
        {
            "question": "Where did Bo plant the oak?",
            "answer": "behind the mill",
            "evidence": ["D1:2"],
            "category": 4,
        },
        {"question": "What did they do together?", "evidence": ["D1:2; D2:1"], "category": 1},
        {"question": "Is Ann a dentist?", "evidence": [], "category": 3},
        {
            "question": "Who sold Ann a trumpet?",
            "evidence": ["D02:01"],
            "category": 5,
            "adversarial_answer": "Bo",
        },
    ]
    return {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "4:04 pm on 20 January, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello! What is new?"},
            {
                "speaker": "Bo",
                "dia_id": "D1:2",
                "text": "I planted an oak behind the mill.",
                "img_url": ["x"],
                "blip_caption": "a photo of a small tree",
            },
        ],
        "session_2_date_time": "9:30 am on 3 February, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "I bought a trumpet."}],
        "session_3_date_time": "9:30 am on 9 February, 2023",
        "qa": qa,
        **questions,
    }


def locomo_list(path: Path) -> Path:
    """`locomo10.json`: one list, the talk inside `conversation`."""
    whole = []
    for number in (26, 44):
        inner = talk()
        whole.append({"qa": inner.pop("qa"), "conversation": inner, "sample_id": f"conv-{number}"})
    path.write_text(json.dumps(whole))
    return path


def entry(
    name: str,
    question: str,
    kind: str,
    sessions: dict[str, list[tuple[str, str, bool]]],
    **more: Any,
) -> dict[str, Any]:
    """A question of LongMemEval with its history."""
    return {
        "question_id": name,
        "question_type": kind,
        "question": question,
        "answer": "-",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": list(sessions),
        "haystack_dates": [f"2023/05/{20 + n} (Sat) 02:2{n}" for n in range(len(sessions))],
        "haystack_sessions": [
            [
                {"role": role, "content": text}
                | ({"has_answer": has} if name.startswith("answer") else {})
                for role, text, has in said
            ]
            for name, said in sessions.items()
        ],
        "answer_session_ids": [name for name in sessions if name.startswith("answer")],
        **more,
    }


LONGMEMEVAL = [
    entry(
        "q_one",
        "What colour is my bicycle?",
        "single-session-user",
        {
            "filler_1": [("user", "My kitchen is green.", False), ("assistant", "Nice.", False)],
            "answer_a": [
                ("user", "I painted my bicycle purple.", True),
                ("assistant", "Lovely.", False),
                ("user", "It took a day.", False),
            ],
            "filler_2": [
                ("user", "The garden needs rain.", False),
                ("assistant", "It does.", False),
            ],
        },
    ),
    entry(
        "q_two",
        "Which novel did you recommend?",
        "single-session-assistant",
        {
            "answer_b": [
                ("user", "Recommend me something to read.", False),
                ("assistant", "The novel Middlemarch.", True),
            ],
            "filler_3": [("user", "I like tea.", False), ("assistant", "Me too.", False)],
        },
    ),
    entry(
        "q_three_abs",
        "What is my dog called?",
        "single-session-user",
        {"answer_c_abs": [("user", "I have a cat.", True)]},
    ),
    entry(
        "q_four",
        "How many concerts did I visit?",
        "multi-session",
        {
            "answer_d_1": [("user", "I visited a concert in Rome.", True)],
            "filler_4": [("user", "I have a cold.", False)],
            "answer_d_2": [
                ("user", "A second concert, in Oslo.", True),
                ("assistant", "Two by now!", False),
            ],
        },
    ),
]


def longmemeval(path: Path) -> Path:
    path.write_text(json.dumps(LONGMEMEVAL, indent=1))
    return path
