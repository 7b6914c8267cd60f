"""The scanner takes a bounded number of steps for each kilobyte, whatever stands in it.

Steps are counted and not timed: calls of functions, ours and those of Python, which is the same on
every machine. That no pattern takes long inside of one call is what `test_linear_time` measures.
"""

from __future__ import annotations

import random
import sys

import pytest

from memoryware.guard import Guard
from memoryware.guard._secrets.scanner import _secrets_in
from memoryware.guard._secrets.text_scan import STEPS, TextScan

KILOBYTES = 16
MOST = 12_000
"""Calls for a kilobyte; notes of everyday work take about 500."""
HOSTILE = [
    "'\n密码:{|'",
    "pw=",
    "pw:",
    "password is ",
    "my password is the best, ",
    "password: abc\n",
    "password,token,secret,key,pin\n",
    "| password | token |\n",
    "| a | password |\n| b | c1d2e3f4 |\n",
    "密码",
    "密码是",
    "パスワードは ",
    "paßwort passwort ist ",
    "sk-proj-",
    "phx_NRIQ-phx_",
    "eyJhbGciOiJIUzI1NiJ9.",
    "token_a_b_c_:5432:",
    "sk-or-v1-ключ",
    "x: s1a2b3c4d5e6f7g8h9i0j1k2 ",
    "python3a-b1-c2-d3-e4-f5-g6-h7 password ",
    "password aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa( ",
    "key a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.aé ",
    "cookie: a=b; sess",
    "curl -u a:",
    "-----BEGIN PRIVATE KEY-----",
    "4111 1111 1111 1111 ",
    "pin 4711 code 4712 ",
    "login: a / b1c2d3 ",
    "seed apple banana cherry ",
    '"password": "Password", ',
    "<password>",
    "--password --token ",
]


def steps(text: str) -> int:
    """Return how many functions a scan of a text calls."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    guard = Guard()
    guard.scan("password: warm-17-up")  # patterns are compiled on their first use
    sys.setprofile(called)
    try:
        guard.scan(text)
    finally:
        sys.setprofile(None)
    return count


def filled(piece: str, kilobytes: int = KILOBYTES) -> str:
    size = 1024 * kilobytes
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_kilobyte_takes_a_bounded_number_of_steps(piece):
    assert steps(filled(piece)) <= MOST * KILOBYTES


@pytest.mark.parametrize("seed", range(8))
def test_so_does_any_mixture(seed):
    chance = random.Random(seed)
    some = chance.sample(HOSTILE, 5)
    text = "".join(chance.choice(some) for _ in range(2000))

    assert steps(text[: 1024 * KILOBYTES]) <= MOST * KILOBYTES


@pytest.mark.parametrize("piece", HOSTILE[:6], ids=range(6))
def test_four_times_the_text_takes_four_times_the_steps(piece):
    assert steps(filled(piece, 16)) <= 4.5 * steps(filled(piece, 4)) + 2_000


@pytest.mark.parametrize("piece", HOSTILE, ids=range(len(HOSTILE)))
def test_no_kilobyte_spends_much_more_than_its_budget(piece):
    text = filled(piece)
    scan = TextScan(text, text.lower())
    list(_secrets_in(scan, []))

    assert scan.steps <= 2.5 * STEPS * KILOBYTES


def test_honest_text_stays_far_below_the_budget():
    text = filled(
        "- The deploy key of the shop is kept in Vault; ask Ann for the password policy.\n"
        "- The invoices are filed under the number of the project, never under the customer.\n"
        "- We pin ruff to 0.14.2 and look at the lock file every month, see docs/tools.md.\n"
    )
    scan = TextScan(text, text.lower())
    list(_secrets_in(scan, []))

    assert not scan.spent
    assert scan.steps <= STEPS * KILOBYTES


def test_a_secret_among_too_many_words_for_secrets_is_found_all_the_same():
    text = filled("pw=") + " my wifi password is tulip-42x " + filled("pw=")

    assert "tulip-42x" not in Guard().redact(text)


def test_hostile_text_takes_nothing_from_honest_text_elsewhere():
    text = (
        filled("password is ") + "\n" * 2000 + "my wifi password is tulipfield, and\nthat is all\n"
    )
    honest = "my wifi password is tulip-42\n"
    redacted = Guard().redact(text + honest)

    assert redacted.endswith("my wifi password is [redacted: password]\n")
