"""Secrets as people tell them, in many languages, and sentences about secrets that tell none."""

from __future__ import annotations

import random

import pytest

from guard.figures import filled
from memoryware.guard import Guard

PASSWORD = "Zebra!77"
RANDOM = random.Random(4)
MIXED, HEXADECIMAL = filled(RANDOM, "<A32>"), filled(RANDOM, "<h32>")


def values(text: str) -> list[str]:
    return [text[one.start : one.end] for one in Guard().scan(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "my password, in case you need it, is {}",
        "What's the wifi password? - It's {}",
        "{} (wifi password)",
        "{} - my wifi password",
        '"{}" is the password',
        "the password to my laptop was changed to {}",
        "set the admin password to {}",
        "password for Netflix: {}",
        "Password (for Netflix): {}",
        "My pass is {}",
        "pw: {}",
        "login with ann / {}",
        "credentials: ann/{}",
        "user ann, pw {}",
        "he told me his password: {}",
        "le mot de passe du wifi est « {} »",
        "J'ai changé mon mot de passe en {}",
        "{} est mon mot de passe",
        "Contraseña del wifi: {}",
        "la clave del wifi es {}",
        "{} es mi contraseña",
        "Das Passwort für Netflix ist jetzt {}",
        "WLAN-Passwort {}",
        "WLAN-Schlüssel: {}",
        "{} ist mein Passwort",
        "{} è la mia password",
        "minha senha é {}",
        "{} is mijn wachtwoord",
        "{} to moje hasło",
        "пароль от вайфая — {}",
        "мой пароль от почты {}",
        "passordet er {}",
        "lösenordet är {}",
        "adgangskoden er {}",
        "heslo je {}",
        "salasanani on {}",
        "a jelszó: {}",
        "wifi şifresi: {}",
        "parola este {}",
        "ο κωδικός είναι {}",
        "סיסמה: {}",
        "كلمة المرور هي {}",
        "मेरा पासवर्ड {} है",
        "비밀번호는 {} 입니다",
        "รหัสผ่านคือ {}",
        "mật khẩu là {}",
        "kata sandi saya adalah {}",
        "我的 WiFi 密码是「{}」",
        "{} 是我的密码",
        "密碼：{}",
        "パスワードは「{}」です",
    ],
)
def test_a_password_is_found_where_it_is_told(sentence):
    assert values(sentence.replace("{}", PASSWORD)) == [PASSWORD]


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("my laptop password is swordfish.", "swordfish"),
        ("my passphrase is correct horse battery staple", "correct horse battery staple"),
        ("the pin for the alarm is 4711", "4711"),
        ("Die PIN lautet 4711", "4711"),
        ("le code PIN est 4711", "4711"),
        ("mijn pincode is 4711", "4711"),
        ("kod PIN to 4711", "4711"),
        ("ПИН-код: 4711", "4711"),
        ("暗証番号は4711です", "4711"),
        ("CVV: 123", "123"),
        ("The gate code is 1379#", "1379#"),
        ("Türcode: 4711", "4711"),
        ("code de la porte : 12B45", "12B45"),
        ("el código de la alarma es 4711", "4711"),
        ("il codice del cancello è 4711", "4711"),
        ("kod do bramy to 4711", "4711"),
        ("The safe combination is 12-34-56", "12-34-56"),
        ("Garage keypad: 663426", "663426"),
        ("the safe opens with 8776", "8776"),
        ("backup codes: 12345678, 87654321", "12345678, 87654321"),
    ],
)
def test_words_and_numbers_are_found_where_it_is_said_what_they_open(sentence, value):
    assert values(sentence) == [value]


@pytest.mark.parametrize("value", [MIXED, HEXADECIMAL])
@pytest.mark.parametrize(
    "sentence",
    [
        "my Datadog key is {}",
        "Here's the API key for the weather service: {}",
        "The token is {}",
        "token {} expires in May",
        "{} is the API key",
        "der API-Schlüssel ist {}",
        "la clé API est {}",
        "la clave de API es {}",
        "ключ API: {}",
        "API 密钥是 {}",
        "APIキーは{}です",
        "License key: {}",
        "Datadog: {}",
    ],
)
def test_a_key_is_found_where_it_is_told(sentence, value):
    assert values(sentence.replace("{}", value)) == [value]


@pytest.mark.parametrize(
    "sentence",
    [
        "the recovery of the file took {} seconds",
        "the public key is {}",
        "commit {} fixes the token",
        "the cache key is {}",
        "the token was added in revision {}",
        "next page token: {}",
    ],
)
def test_a_random_value_that_is_something_else_passes(sentence):
    assert values(sentence.replace("{}", HEXADECIMAL)) == []


@pytest.mark.parametrize("count", [12, 15, 18, 24])
def test_the_words_of_a_wallet_are_found(count):
    phrase = filled(RANDOM, f"<words{count}>")

    assert values(f"My seed phrase is {phrase}") == [phrase]
    assert values(f'mnemonic = "{phrase}"') == [phrase]
    numbered = " ".join(f"{number}. {word}" for number, word in enumerate(phrase.split(), 1))
    assert values(f"Recovery phrase:\n{numbered}") == [numbered.removeprefix("1. ")]


@pytest.mark.parametrize(
    "phrase", ["correct-horse-battery", "tulip.garden.river.lamp", "purple_monkey_dishwasher"]
)
@pytest.mark.parametrize(
    "sentence",
    [
        "The wifi password is {}",
        "The wifi password is {}.",
        "the password is {}, do not tell",
        "My password is now {} and changes monthly",
        "The guest password (for the wifi) is {}",
        "my password was changed to {}",
        "wifi password: {}",
        "Our wifi password = {}",
        "Wifi password is **{}**",
        "The router's password is `{}`",
        '"{}" is the password',
        "{} is the wifi password",
        "Das WLAN-Passwort ist {}",
        "Das WLAN-Passwort: {}",
        "Le mot de passe du wifi est {}",
        "La contraseña del wifi es {}",
        "WiFi密码是{}",
        "我的 WiFi 密码是「{}」",
        "パスワードは「{}」です",
        "WIFI_PASSWORD={}",
    ],
)
def test_words_with_a_sign_between_them_are_a_password(sentence, phrase):
    assert values(sentence.replace("{}", phrase)) == [phrase]


@pytest.mark.parametrize(
    "sentence",
    [
        'the passphrase is "{}"',
        '"{}" is the passphrase',
        'wifi password: "{}"',
        "Das Passwort lautet „{}“",
        "我的 WiFi 密码是「{}」",
    ],
)
def test_several_words_in_quotation_marks_are_a_passphrase(sentence):
    phrase = "correct horse battery staple"

    assert values(sentence.replace("{}", phrase)) == [phrase]


@pytest.mark.parametrize(
    "text",
    [
        "the password is case-sensitive",
        "the password is up-to-date",
        "the password policy is well-documented",
        "the token is short-lived",
        "the key is read-only",
        "password is one-time-only",
        "The wifi password is on-the-fridge",
        "The password is out-of-date.",
        "the password is hard-to-guess",
        "The password is state-of-the-art",
        "the password is user-supplied-only",
        "The password is machine-generated-and-long",
        "the password is auto-generated-on-install",
        "The password is zero-knowledge-proof protected",
        "The password check is state-machine-driven here",
        "The password is three-words-with-hyphens",
        "the password is context-dependent",
        "Use single-sign-on as the password replacement",
        "the password is user.profile.password",
        "the password is at vault.example.com",
        "password = settings.database.main",
        "password: role_based_access",
        "password: login-form-input",
        '"password": "auth.fields.hidden"',
        "password = app.state.holder",
        "password: up-to-date",
        "the password is not correct-horse-battery",
        "das Passwort ist nicht-mehr-aktuell",
        "密码是 case-sensitive",
        "密码：up-to-date",
    ],
)
def test_compounds_and_names_are_no_passwords(text):
    assert values(text) == []


def test_words_that_make_sentences_are_no_wallet():
    prose = "recovery was slow and the first weeks were hard for all of us but then it got better"

    assert values(prose) == []
