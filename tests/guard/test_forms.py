"""Secrets that are known by the form they stand in, and tokens in pieces."""

from __future__ import annotations

import random

import pytest

from guard.figures import filled
from memoryware.guard import Guard

RANDOM = random.Random(6)
PASSWORD = "Zebra!77"
TOKEN = filled(RANDOM, "ghp_<A36>")


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in Guard().scan(text)]


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("cu" + "rl -u ann:{} https://example.org", "password in a command"),
        ("mysql -u root -p{} shop", "password in a command"),
        ("sshpass -p '{}' ssh ann@host", "password in a command"),
        ("redis-cli -h x -a {}", "password in a command"),
        ("docker login -u ann -p {} registry.example.org", "password in a command"),
        ("smbclient //srv/share -U ann%{}", "password in a command"),
        ("net user ann {} /add", "password in a command"),
        ('echo "{}" | sudo -S ls', "password in a command"),
        ("ALTER USER ann IDENTIFIED BY '{}';", "password in a command"),
        ('ConvertTo-SecureString "{}" -AsPlainText', "password in a command"),
        ("rabbitmqctl add_user ann {}", "password in a command"),
        ("auth=('ann', '{}')", "password in code"),
        ("WIFI:T:WPA;S:Alder;P:{};;", "wifi password"),
        ("ann:{}@tcp(db:3306)/shop", "password in a connection string"),
        ("db:5432:shop:ann:{}", "password in a connection string"),
    ],
)
def test_a_password_in_a_command_is_found(command, kind):
    assert found(command.replace("{}", PASSWORD)) == [(kind, PASSWORD)]


@pytest.mark.parametrize(
    ("text", "pattern", "kind"),
    [
        ("https://hooks.slack.com/services/{}", "T<U8>/B<U10>/<A24>", "webhook address"),
        ("https://x.org/f?sig={}", "<A44>", "signature in a URL"),
        ("https://{}@git.example.org/r", "<A32>", "token in a URL"),
        ("otpauth://totp/Git:ann?secret={}", "<232>", "one-time password seed"),
        ("Authorization: Bearer {}", "<A40>", "authorization header"),
        ("Cookie: theme=dark; sessionid={}", "<A40>", "session cookie"),
        ("ann:{}", "$2b$12$<A53>", "password hash"),
        ('{"kty":"EC","d":"{}"}', "<w43>", "private key"),
        ("{}", "1//0<w60>", "Google refresh token"),
    ],
)
def test_other_forms_are_found(text, pattern, kind):
    secret = filled(random.Random(text), pattern)  # of its own: the order of tests decides nothing

    assert found(text.replace("{}", secret)) == [(kind, secret)]


def block(label: str, end: bool = True) -> str:
    last = f"\n<edge>END {label}<edge>" if end else ""
    return filled(RANDOM, f"<edge>BEGIN {label}<edge>\n<b64>\n<b64>{last}")


@pytest.mark.parametrize("label", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY"])
@pytest.mark.parametrize("end", [True, False])
def test_a_private_key_is_found_from_its_first_line_to_its_last(label, end):
    key = block(label, end)

    assert found(f"# Key\n\n{key}\n\nNothing else.") == [("private key", key)]
    escaped = key.replace("\n", "\\n")
    assert found(f'key = "{escaped}"') == [("private key", escaped)]


def test_two_keys_are_two_findings():
    one, two = block("PRIVATE KEY"), block("EC PRIVATE KEY")

    assert found(f"{one}\n{two}") == [("private key", one), ("private key", two)]


@pytest.mark.parametrize("label", ["PUBLIC KEY", "CERTIFICATE", "PGP PUBLIC KEY BLOCK"])
def test_what_is_public_passes(label):
    assert found(block(label)) == []


@pytest.mark.parametrize(
    "written",
    [
        't = "{}" + "{}"',
        't = "{}" \\\n    "{}"',
        't = ("{}"\n     "{}")',
        't = "{}\n     {}"',
        "tool {}\\\n{}",
        "const t = '{}' +\n  '{}'",
    ],
)
@pytest.mark.parametrize("cut", [20, 24, 30])
def test_a_token_in_pieces_is_found_whole(written, cut):
    text = written.replace("{}", TOKEN[:cut], 1).replace("{}", TOKEN[cut:], 1)

    ((kind, value),) = found(text)
    assert kind == "GitHub token"
    assert value.startswith(TOKEN[:cut])
    assert value.endswith(TOKEN[cut:])


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060\ufeff", "\U000e0041"])
def test_characters_that_hide_do_not_hide_a_secret(hidden):
    token = hidden.join([TOKEN[:9], TOKEN[9:20], TOKEN[20:]])
    password = PASSWORD[:3] + hidden + PASSWORD[3:]

    assert found(f"use {token} there") == [("GitHub token", token)]
    assert found(f"pass{hidden}word: {password}") == [("password", password)]
