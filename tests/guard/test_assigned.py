"""Secrets behind their names, in the formats that people keep them in."""

from __future__ import annotations

import random

import pytest

from guard.figures import filled
from memoryware.guard import Guard

PASSWORD = "Zebra!77"
RANDOM = random.Random(5)
MIXED = filled(RANDOM, "<A32>")


def values(text: str) -> list[str]:
    return [text[one.start : one.end] for one in Guard().scan(text)]


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD={}",
        "export DB_PASSWORD='{}'",
        "PASSWORD_DB={}",
        'password = "{}"',
        "'password' => '{}',",
        ':password => "{}",',
        'let password: String = "{}".into();',
        'private static final String PASSWORD = "{}";',
        '{"user": "ann", "db_password": "{}"}',
        '\\"password\\": \\"{}\\"',
        "password: |\n  {}",
        "db_pass: !str {}",
        "- name: DB_PASSWORD\n  value: '{}'",
        '{"name": "DB_PASSWORD", "value": "{}"}',
        '<add key="password" value="{}"/>',
        "<password>{}</password>",
        '<ns:password type="plain">{}</ns:password>',
        '<entry key="password">{}</entry>',
        "spring.datasource.password={}",
        "Server=db;Uid=app;Pwd={};Encrypt=true",
        "https://example.org/login?user=ann&password={}&x=1",
        "tool --password {} --verbose",
        "tool --db-password={}",
        'Connect-Db -Password "{}"',
        'client.setPassword("{}")',
        'os.environ.get("DB_PASSWORD", "{}")',
        'os.environ["PGPASSWORD"] = "{}"',
        "**Password**: `{}`",
        "Password\t{}",
        "machine example.org login ann password {}",
        "requirepass {}",
        "CREATE USER ann WITH PASSWORD '{}';",
        "| user | password |\n|---|---|\n| ann | {} |",
        "user,password,mail\nann,{},ann@example.org",
        "ｐａｓｓｗｏｒｄ：{}",
    ],
)
def test_a_password_is_found_in_every_format(line):
    assert values(line.replace("{}", PASSWORD)) == [PASSWORD]


@pytest.mark.parametrize(
    "line",
    [
        "client_secret={}",
        '"secret": "{}"',
        "X-Api-Key: {}",
        "?api_key={}&q=1",
        "JWT_SECRET={}",
        "SECRET_KEY_BASE={}",
        "MAPS_KEY={}",
        "refresh_token: {}",
        "| service | api key |\n|--|--|\n| weather | {} |",
        '"auth": "{}"',
    ],
)
def test_a_key_is_found_in_every_format(line):
    assert values(line.replace("{}", MIXED)) == [MIXED]


def test_every_row_of_a_table_counts():
    rows = "".join(f"| user{number} | Zebra!{number}7 |\n" for number in range(5))

    assert values(f"| user | password |\n|---|---|\n{rows}\nno table") == [
        f"Zebra!{number}7" for number in range(5)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "password = get_password()",
        "password = settings.DB_PASSWORD",
        "password: str = Field(min_length=12)",
        "password=password, user=user",
        "password: ${DB_PASSWORD}",
        "password: {{ vault_password }}",
        "password: ********",
        "password: required|min:8",
        "password_hash = bcrypt2.hash(value)",
        "password_url: https://example.org/reset2",
        "token = tokens[0]",
        "key=lambda item: item.created_at2",
        "reset_password_page: /reset/v2",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1B2c3",
        "| password |\n|---|\n| required |\n| token |\n",
    ],
)
def test_code_and_placeholders_pass(line):
    assert values(line) == []


@pytest.mark.parametrize("line", ["TOKEN={}", 'token: "{}"', '\\"token\\": \\"{}\\"'])
@pytest.mark.parametrize("length", [200, 300, 600, 4000])
def test_long_values_are_found_to_their_end(line, length):
    secret = filled(RANDOM, f"<A{length}>")

    assert values(line.replace("{}", secret)) == [secret]


def test_a_line_break_that_is_spelled_as_in_code_ends_a_value():
    assert values(f'write("DB_PASSWORD={PASSWORD}\\nNEXT=1")') == [PASSWORD]
    assert values(f'say("my password is {PASSWORD}\\n")') == [PASSWORD]
