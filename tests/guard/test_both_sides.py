"""What is a secret and what only looks like one: versions, YAML, cards, whole secrets."""

from __future__ import annotations

import pytest

from memoryware.guard import Guard

CODE = "g1T4bWqP9xYz3LmN7kQ2rS5v"


@pytest.mark.parametrize(
    "text",
    [
        "The lock file pins ruff to 0.14.2 on all branches.",
        "We pin Next.js to `3000`.",
        "Next.js pins to `3000`",
        "pin lodash to 4.17.21",
        "Pin the Docker image to 22.04.",
        "Please pin the version to 2024.1.",
        "We always pin Terraform to 1.5.7 and the provider to 5.31.0.",
        "PIN requests to 2.31.0, please",
        "kubectl set image, pin tag to 1.27.3",
        'pin = "0.14.2"',
        "pin: 22.04",
        "Ubuntu pin 22.04",
        "the pin to 17.0.2 came from React",
        "pin the dev server to 8080",
        "pin the note at the top: 2025 budget",
        "pins: ruff==0.14.2, mypy==1.11",
        "Bitte den Pin von ruff auf 0.14.2 setzen",
        "Pin tests to node 18",
        "pin GPIO pin 17 to ground",
        "Pincode 560001, Bangalore",
        "PIN code 10435 Berlin",
    ],
)
def test_a_version_is_no_pin(text):
    assert Guard().scan(text) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("My PIN is 4711.", "4711"),
        ("PIN code: 482100. Keep it.", "482100"),
        ("The pincode of the door is 482100, so remember it", "482100"),
        ("the pin for the alarm is 4711", "4711"),
        ("pin: 4711", "4711"),
        ("PIN=483920", "483920"),
        ("The PIN of the SIM is 0815.", "0815"),
        ("Change the pin to 8832.", "8832"),
        ("We changed the alarm pin to 5821", "5821"),
        ("set the safe's pin to 22041", "22041"),
        ("My bank card's PIN is 3000.", "3000"),
        ("Meine PIN ist 4711", "4711"),
        ("Mój PIN to 4711", "4711"),
        ("Mi PIN es 7193", "7193"),
        ("Мой пин 4829", "4829"),
        ("door PIN: 55-23-19", "55-23-19"),
    ],
)
def test_a_pin_is_one(text, secret):
    assert secret not in Guard().redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "  password: S3nha-wKOu6Oe8",
        "db:\n  password: S3nha-wKOu6Oe8\n  user: x\n",
        'db:\n  password: "S3nha-wKOu6Oe8"\n',
        "db:\n  primary:\n    password: 'S3nha-wKOu6Oe8'\n",
        "- name: x\n  password: S3nha-wKOu6Oe8 # of prod\n",
        "  senha: S3nha-wKOu6Oe8",
        "  password : S3nha-wKOu6Oe8",
        "  password: >-\n    S3nha-wKOu6Oe8\n",
        '{"db": {"password": "S3nha-wKOu6Oe8"}}',
        "my password is S3nha-wKOu6Oe8",
    ],
)
def test_a_password_that_begins_like_a_product_is_one(text):
    assert "S3nha" not in Guard().redact(text)
    assert "wKOu6Oe8" not in Guard().redact(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            f"https://hooks.slack.com/services/T024BE7LD/B024BE7LH/{CODE}",
            ("T024BE7LD", "B024", CODE),
        ),
        (f"hooks.slack.com/services/T024BE7LD/B024BE7LH/{CODE}/", ("T024BE7LD", "B024", CODE)),
        (
            f"https://hooks.slack.com/triggers/T024BE7LD/4123456789012/{CODE}",
            ("T024BE7LD", "4123456789012", CODE),
        ),
        (
            f"TFE_TOKEN=XVpy3kqNbR7tLm.atlasv1.{CODE}{CODE[::-1]}abCdEf12",
            ("XVpy3kqNbR7tLm", CODE, "abCdEf12"),
        ),
        (
            f"the token XVpy3kqNbR7tLm.atlasv1.{CODE}{CODE[::-1]}abCdEf12 works",
            ("XVpy3kqNbR7tLm", CODE, "abCdEf12"),
        ),
        ("Het wachtwoord is Fiets-Groen7 Tulp!9", ("Fiets-Groen7", "Tulp!9")),
        ("Fiets-Groen7 Tulp!9 is het wachtwoord", ("Fiets-Groen7", "Tulp!9")),
        ("Het wachtwoord van de kluis wordt Welkom01? vanaf maandag", ("Welkom01?",)),
        ("Mijn wachtwoord is paard batterij nietje lantaarn", ("paard", "batterij", "lantaarn")),
        ('Het wachtwoord is "Mijn fiets heeft 2 wielen!"', ("Mijn fiets", "wielen!")),
        ("Wachtwoord: Fiets-Groen7 Tulp!9", ("Fiets-Groen7", "Tulp!9")),
        ('password="tulip 42 garden"', ("tulip", "42", "garden")),
        ("Mein Passwort ist Zomer'24x", ("Zomer'24x",)),
        ("password is aB3$x{9} now", ("aB3$x{9}",)),
    ],
)
def test_the_whole_secret_is_redacted(text, parts):
    redacted = Guard().redact(text)

    assert "[redacted: " in redacted
    assert [one for one in parts if one in redacted] == []


@pytest.mark.parametrize(
    "text",
    [
        "My card is 4111 1111 1111 1111.",
        "The company card number is 5555-5555-5555-4444",
        "Amex 378282246310005, exp 12/27",
        "Kreditkarte: 4012888888881881",
        "pay with 4242424242424242",
        "visa=4012888888881881",
        "tarjeta 6011111111111117",
    ],
)
def test_the_number_of_a_card_is_a_secret(text):
    assert [one.kind for one in Guard().scan(text)] == ["credit card number"]


@pytest.mark.parametrize(
    "text",
    [
        "card 4111 1111 1111 1112",  # not by Luhn
        "order 4012888888881881",
        '"id": 4012888888881881',
        "trace_id=4012888888881881",
        "userId: 4012888888881881",
        "channel 4012888888881881",
        '{"thread": 4012888888881881}',
        "ts=1712345678901234",
        "https://example.com/p/4012888888881881",
        "0.4012888888881881",
        "sha-4012888888881881-x",
        "ISBN 9783161484100",
        "1234 5678 9012 3456",
    ],
)
def test_ids_and_times_are_no_cards(text):
    assert Guard().scan(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '"password": "Password must be 8 characters"',
        '"password": "At least 12 characters and 1 digit"',
        "Het wachtwoord moet 12 tekens hebben.",
        "Mijn wachtwoord is nog steeds niet goed ingesteld",
        "Das Passwort muss 12 Zeichen haben.",
        "The password is rotated every 90 days, see issue ABC-123.",
        "We use SHA-256, python3.11 and room12 for the password hash.",
        "k8s, x86_64, i18n and s3 have no password",
        "secret santa is on 2024-12-24",
        "max_tokens=2048, token budget 128000",
        "see https://hooks.slack.com/services docs",
        "terraform 1.9.5 and its token file",
        "| a | waits if the filters let it pass |\n|---|---|\n| b | quarantine |\n",
    ],
)
def test_what_only_speaks_of_secrets_passes(text):
    assert Guard().scan(text) == []
