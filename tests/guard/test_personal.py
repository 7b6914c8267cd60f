"""Personal data: off by default, by LangChain's detectors and one of our own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memoryware.guard import Guard

TEXT = (
    "Ann: ann@example.org, +44 20 7946 0958, card 4111 1111 1111 1111,\n"
    "her server is 192.168.178.21 with the network card 00:1A:2B:3C:4D:5E.\n"
)


def values(text: str, *personal: str) -> list[tuple[str, str]]:
    found = Guard(personal=personal, secrets=False).scan(text)
    return [(one.kind, text[one.start : one.end]) for one in found]


def test_personal_data_is_not_looked_for_by_default_but_the_number_of_a_card_is_a_secret():
    assert [one.kind for one in Guard().scan(TEXT)] == ["credit card number"]


def test_each_kind_is_found_when_it_is_asked_for():
    assert values(TEXT, "email") == [("e-mail address", "ann@example.org")]
    assert values(TEXT, "phone") == [("phone number", "+44 20 7946 0958")]
    assert values(TEXT, "credit_card") == [("credit card number", "4111 1111 1111 1111")]
    assert values(TEXT, "ip") == [("IP address", "192.168.178.21")]
    assert values(TEXT, "mac_address") == [("MAC address", "00:1A:2B:3C:4D:5E")]


def test_they_are_redacted_and_described_like_secrets():
    guard = Guard(personal=["email", "phone"], secrets=False)

    assert guard.redact("ann@example.org") == "[redacted: e-mail address]"
    assert guard.describe(guard.scan(f"\n{TEXT}")) == "line 2: e-mail address, line 2: phone number"


def test_allowed_addresses_pass():
    guard = Guard(personal=["email"], allow=["ann@example.org"], secrets=False)
    assert guard.scan(TEXT) == []


@pytest.mark.parametrize(
    "number",
    [
        "+1 (555) 123-4567",
        "555-123-4567",
        "(555) 123-4567",
        "1-800-555-0199",
        "+49 171 2345678",
        "+49 (0)30 123456",
        "0049 30 1234567",
        "030/1234567",
        "0171 2345678",
        "+33 6 12 34 56 78",
        "+86 138 0013 8000",
        "+81 90-1234-5678",
    ],
)
def test_a_telephone_number_is_found(number):
    assert values(f"Reach Bo under {number}, or write.", "phone") == [("phone number", number)]


@pytest.mark.parametrize("before", ["phone", "Tel.", "Handy:", "call me at", "телефон", "电话："])
def test_a_number_that_is_said_to_be_one_is_found(before):
    assert values(f"{before} 555 12 34", "phone") == [("phone number", "555 12 34")]


@pytest.mark.parametrize(
    "text",
    [
        "2024-11-27 10:15",
        "the 27.11.2024",
        "192.168.178.21",
        "order 302-1234567-1234567",
        "ISBN 978-3-16-148410-0",
        "version 1.2.3.4",
        "1234567",
        "the years 1998 2004 2011",
        "sum 12 345 678",
        "a1b2-555-123-4567",
        "4111 1111 1111 1111",
    ],
)
def test_other_numbers_are_no_telephone_numbers(text):
    assert values(text, "phone") == []


def test_many_addresses_without_a_blank_are_found():
    text = ";".join(f"ann{number}@example.org" for number in range(200))

    assert len(values(text, "email")) == 200


@pytest.mark.slow
def test_langchain_is_loaded_only_when_personal_data_is_asked_for():
    code = (
        "import sys\n"
        "from memoryware.guard import Guard\n"
        "Guard().scan('password: Zebra!77 and ann@example.org')\n"
        "assert not any(one.startswith('langchain') for one in sys.modules)\n"
        "Guard(personal=['email']).scan('ann@example.org')\n"
        "assert 'langchain.agents.middleware' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)
