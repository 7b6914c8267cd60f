"""No text takes longer than its length explains."""

from __future__ import annotations

import time

import pytest

from memoryware.guard import Guard

SIZE = 10_000
HOSTILE = [
    "a",
    "a-",
    "A1",
    "password=",
    "password ",
    "my password is ",
    "passwordpassword",
    "DB_PASSWORD_",
    "<password ",
    "--password ",
    "a,password\n",
    "| a | password |\n",
    "| password |\n|--|\n",
    "key ",
    "api_key: ",
    'token:"a',
    "the gate code is ",
    "pin 1 ",
    "login: a/b ",
    "seed apple banana ",
    "seed ",
    "ghp_",
    "sk-",
    "eyJabcdefgh.",
    "1:AA",
    "://a:b",
    "http://a:b@",
    "a:5432:",
    "cookie: a=b; sess",
    "authorization: bearer ",
    "cu" + "rl -u a ",
    "mysql -p ",
    "identified by '",
    "$6$a$",
    "wifi:a;",
    "-----" + "BEGIN PRIVATE KEY-----",
    "-",
    '"',
    '" + "',
    "\\\n",
    '"aaaaaaaaaaaaaaaaaaaa\n',
    "\n",
    " ",
    "pass\u200bword: ",
    "密码是",
    "ｐａｓｓ",
    "[redacted: ",
    "1-",
    "@",
    "a@",
    "a.",
    "+1 ",
    "(0",
]
LONG = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODk"


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*HOSTILE, LONG, f"{LONG}\n"], ids=repr)
def test_four_times_the_text_takes_about_four_times_the_time(piece):
    guard = Guard(personal=["email", "phone", "credit_card", "ip", "mac_address"])
    text = piece * (4 * SIZE // len(piece))

    short = seconds(guard, text[: len(text) // 4])
    long = seconds(guard, text)

    # square growth would make it sixteen times as long
    assert long < 9 * short + 0.05


def seconds(guard: Guard, text: str) -> float:
    taken = []
    for _ in range(2):
        start = time.process_time()
        guard.scan(text)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "password=", LONG, "- a note of a few words\n"], ids=repr)
def test_a_megabyte_is_looked_through(piece):
    start = time.process_time()

    Guard().scan(piece * (1_000_000 // len(piece)))

    assert time.process_time() - start < 45
