"""A third part, written when the rules had been mended after the second, and frozen again."""

from __future__ import annotations

from benchmarks.secret_making import Kind

_NOTES = (
    "- {name}: {}\n- office: second floor",
    "## {name}\nAccount of the team, owner Ann. Key is {} (expires never).",
    "{name} -> {}",
    "When the job for {name} asks, give it {}",
    "export {upper}_TOKEN='{}'",
    '{"{lower}": {"apiKey": "{}", "region": "eu"}}',
    "The {name} credential (rotated in June): {}",
)


def _kind(name: str, pattern: str, texts: tuple[str, ...] = _NOTES) -> Kind:
    upper, lower = name.upper().replace(" ", "_"), name.lower().replace(" ", "-")
    made = (
        text.replace("{name}", name).replace("{upper}", upper).replace("{lower}", lower)
        for text in texts
    )
    return Kind(f"{name} key", pattern, tuple(made))


_TOKENS = (
    _kind("Lark Farm", "lf_live_<A32>"),
    _kind("Meridian", "mrd-<h40>"),
    _kind("Gitea", "<h40>"),
    _kind("Statsig", "secret-<A43>"),
    _kind("Clerk", "sk_test_<A40>"),
    _kind("Neon", "napi_<a64>"),
    _kind("Upstash", "AX<A50>"),
    _kind("Turso", "eyJhbGciOiJFZERTQSJ9.<json64>.<w86>"),
    _kind("Retool", "retool_<A26>"),
    _kind("Lago", "<uuid>"),
    _kind("Meilisearch", "<h64>"),
    _kind("Convex", "prod:quick-fox-12|<A70>"),
    _kind("Stytch", "secret-live-<w36>"),
    _kind("Ably", "<A6>.<A6>:<A43>"),
    _kind("Liveblocks", "sk_prod_<w64>"),
    _kind("Kagi", "<A22>.<w43>"),
    _kind("Exa", "<uuid>"),
    _kind(
        "Zapier hook",
        "<d7>/<a7>",
        (
            "Trigger: https://hooks.zapier.com/hooks/catch/{}",
            "POST to https://hooks.zapier.com/hooks/catch/{} when done",
        ),
    ),
    _kind(
        "Teams hook",
        "<uuid>@<uuid>/IncomingWebhook/<h32>/<uuid>",
        ("Alerts: https://acme.webhook.office.com/webhookb2/{}",),
    ),
    _kind(
        "in-house", "acme_svc_<a24>", ("worker token {}", "ACME_WORKER={}", "use {} for the worker")
    ),
)

_SAID = (
    Kind(
        "English, a third time",
        "<pw>",
        (
            "Ann's Spotify: ann@example.org, password {}",
            "note to self: router admin is admin/{}",
            "Can you remember that my Steam password is {}?",
            "I keep forgetting it, so: bank password = {}",
            "Our guest network is called Birch and the password's {}",
            "The new password is {} - don't tell anybody.",
            "password for the ticket shop ({}) works again",
            "Username: ann\nPassword: {}\nURL: https://example.org",
            "Reset done, temporary password {}",
            "Bo told me the root password was {} before",
            "he uses {} as his password everywhere",
            "VPN: user ann pass {}",
            "the zip is encrypted, password: {}",
            "the passphrase for my SSH key is {}",
            "Login data of the printer: admin, {}",
            "My WiFi is Birch and the key is {}.",
        ),
    ),
    Kind(
        "numbers, a third time",
        "<d4>",
        (
            "Bike lock: {}",
            "the code to get into the building is {}",
            "My PIN for the bank card is {}, remember it",
            "Dad's iPad passcode: {}",
            "alarm code at mum's house - {}",
            "The locker's combination is {}.",
            "SIM PIN {}",
            "Access code for the gym is {}#",
        ),
    ),
    Kind(
        "configuration, a third time",
        "<pw>",
        (
            "services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD={}\n",
            "[client]\nuser=root\npassword={}",
            '<Connector keystorePass="{}" port="8443"/>',
            "spring:\n  datasource:\n    username: app\n    password: '{}'",
            "define('DB_PASSWORD', '{}');",
            "conn = psycopg.connect('dbname=shop user=app password={}')",
            '"ConnectionStrings": {"Db": "Server=.;User=sa;Password={};"}',
            'admin_password = "{}" # terraform',
            '  smtp_auth_password: "{}"',
            "ansible_password: {}",
            'config :app, App.Repo, password: "{}"',
            'JAVA_OPTS="-Dkeystore.password={}"',
            "mongodb://app:{}@mongo:27017/shop?authSource=admin",
            "smtps://ann%40example.org:{}@mail.example.org:465",
            'var pwd = "{}"',
            'DATABASE_URL="mysql2://app:{}@db/shop"',
            "unzip -P {} secret.zip",
            "sudo -u postgres psql -c \"ALTER USER app PASSWORD '{}'\"",
            "- {key: password, value: {}}",
            "LDAP_BIND_PW={}",
        ),
    ),
    Kind(
        "German, a third time",
        "<pw>",
        (
            "Mein Passwort bei der Bank: {}",
            "Benutzer ann, Passwort {}",
            "Das Gäste-WLAN heißt Birke, Passwort ist {}",
            "Das neue Kennwort heißt {}",
            "Notiere: Admin-Passwort = {}",
        ),
    ),
    Kind(
        "French, a third time",
        "<pw>",
        (
            "Mon mot de passe Netflix est {}",
            "mdp du wifi : {}",
            "login ann, mdp {}",
            "le code wifi c'est {}",
        ),
    ),
    Kind(
        "Spanish, a third time",
        "<pw>",
        (
            "La contraseña de mi correo es {}, guárdala",
            "clave: {}",
            "mi clave del banco es {}",
            "contraseña nueva: {}",
        ),
    ),
    Kind(
        "Italian, a third time",
        "<pw>",
        ("la password del wifi di casa è {}", "password nuova: {}", "utente ann, password {}"),
    ),
    Kind(
        "Portuguese, a third time",
        "<pw>",
        ("a senha da Netflix é {}", "senha nova: {}", "a minha palavra-passe é {}"),
    ),
    Kind(
        "Dutch, a third time",
        "<pw>",
        ("Het wachtwoord is {}.", "gebruiker ann, wachtwoord {}", "wifi-wachtwoord: {}"),
    ),
    Kind(
        "Polish, a third time",
        "<pw>",
        ("Hasło do Netflixa to {}", "nowe hasło: {}", "login ann, hasło {}"),
    ),
    Kind(
        "Russian, a third time",
        "<pw>",
        (
            "Мой пароль от банка: {}",
            "логин ann, пароль {}",
            "новый пароль — {}",
            "пароль вайфая {}",
        ),
    ),
    Kind(
        "Chinese, a third time",
        "<pw>",
        ("我家wifi的密码是{}", "用户名ann，密码{}", "新密码：{}", "邮箱密码为 {}，请记住"),
    ),
    Kind(
        "Japanese, a third time",
        "<pw>",
        (
            "Netflixのパスワードは{}です。",
            "ユーザー名: ann、パスワード: {}",
            "新しいパスワード：{}",
        ),
    ),
    Kind(
        "Korean and Turkish, a third time",
        "<pw>",
        ("와이파이 비밀번호는 {}입니다", "비번: {}", "wifi şifresi {}", "yeni şifrem: {}"),
    ),
    Kind(
        "keys in blocks, a third time",
        "<edge>BEGIN DSA PRIVATE KEY<edge>\n<b64>\n<b64>\n<b32>\n<edge>END DSA PRIVATE KEY<edge>",
        ("{}", "> {}", "key = '''\n{}\n'''"),
    ),
    Kind(
        "headers, a third time",
        "<A44>",
        (
            "X-Auth-Token: {}",
            "Authorization: token {}",
            "headers={'Authorization': f'Bearer {}'}",
            "Proxy-Authorization: Basic {}==",
            "api-key: {}",
            '-H "PRIVATE-TOKEN: {}"',
            "Ocp-Apim-Subscription-Key: {}",
        ),
    ),
    Kind(
        "recovery, a third time",
        "<a5>-<a5> <a5>-<a5> <a5>-<a5>",
        ("GitHub recovery codes: {}", "backup codes for Google: {}"),
    ),
    Kind(
        "wallet, a third time",
        "0x<h64>",
        ("private key of the wallet: {}", "PRIVATE_KEY={}", "my MetaMask private key is {}"),
    ),
)

KINDS = (*_TOKENS, *_SAID)
