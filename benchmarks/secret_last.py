"""The fourth part, written when the rules had been mended after the third, and frozen again."""

from __future__ import annotations

from benchmarks.secret_making import Kind

_AS_FOUND = (
    "{upper}_API_KEY={}",
    "{name} API key: {}",
    '{"{lower}_token": "{}"}',
    "I registered at {name}; the token they gave me is {}.",
    "{lower}:\n  url: https://api.example.org\n  secret: {}\n",
    "Authorization: Bearer {}  # {name}",
    "{name}: {}",
    'curl -H "X-Api-Key: {}" https://api.example.org/{lower}',
    'client = {lower}.Client(api_key="{}", timeout=30)',
    "Stored for {name}: {}",
)


def _service(name: str, pattern: str) -> Kind:
    upper, lower = name.upper().replace(" ", "_"), name.lower().replace(" ", "_")
    made = (
        text.replace("{name}", name).replace("{upper}", upper).replace("{lower}", lower)
        for text in _AS_FOUND
    )
    return Kind(f"{name} key", pattern, tuple(made))


_SERVICES = (
    _service("Svix", "testsk_<w32>"),
    _service("Trigger dev", "tr_prod_<A24>"),
    _service("Inngest", "signkey-prod-<h64>"),
    _service("Novu", "<h32>"),
    _service("Ory", "ory_pat_<A32>"),
    _service("Unkey", "unkey_<A24>"),
    _service("Xata", "xau_<A32>"),
    _service("Tinybird", "p.eyJ1<w40>.<w36>"),
    _service("Hasura", "<A64>"),
    _service("Lemon", "<h40>"),
    _service("Zilliz", "<h80>"),
    _service("Helicone", "sk-helicone-<a7>-<a7>-<a7>-<a7>"),
    _service("Braintrust", "sk-<A48>"),
    _service("Modal", "as-<A22>"),
    _service("RunPod", "rpa_<U42>"),
    _service("Baseten", "<A8>.<A32>"),
    _service("Wise", "<uuid>"),
    _service("Mux", "<b75>"),
    _service("Crowdin", "<h80>"),
    _service("Weaviate", "<A36>"),
)

_SAID = (
    Kind(
        "English, a fourth time",
        "<pw>",
        (
            "Remember my Wi-Fi: network Larch, password {}",
            "For the record, the Jira password is {}",
            "My Apple ID password is now {}.",
            "the admin account has {} as password",
            "pw of the backup disk: {}",
            "Use password {} when the installer asks",
            "Server: 10.0.0.5, user: root, password: {}",
            "{} is the password for the staging site",
            "He set our shared password to {} last week",
            "I'm ann_l on the forum and my password there is {}",
            'the PDF password is "{}"',
            "mail account: ann@example.org / password: {}",
            "database creds: app / {}",
            "The password hasn't changed: {}",
            "Password of the old laptop, just in case: {}",
            "the master password for my vault is {}",
        ),
    ),
    Kind(
        "numbers, a fourth time",
        "<d6>",
        (
            "my tablet's PIN is {}",
            "The entry code for the office is {}",
            "PIN code: {}",
            "the alarm's code is {} now",
            "My bank PIN: {}",
            "gate code - {}",
            "voicemail pin {}",
            "the code for grandma's front door is {}",
        ),
    ),
    Kind(
        "configuration, a fourth time",
        "<pw>",
        (
            "db.password={}",
            "REDIS_PASSWORD: {}",
            '"smtpPassword": "{}",',
            "password    {}",
            "ENV MYSQL_ROOT_PASSWORD={}",
            "-e POSTGRES_PASSWORD={} postgres:16",
            "--set auth.password={}",
            'new MySqlConnection("server=db;uid=app;pwd={}")',
            "imap_password = '{}'",
            '<entry key="password">{}</entry>',
            "sftp://ann:{}@files.example.org/in",
            'PASSWORD="{}" ./run.sh',
            "login=ann&password={}&remember=1",
            '$env:DB_PASSWORD = "{}"',
            "set PGPASSWORD={}",
            '    pass: "{}",',
        ),
    ),
    Kind(
        "German, a fourth time",
        "<pw>",
        (
            "Mein Passwort fürs Forum ist {}.",
            "Kennwort: {}",
            "das Passwort vom NAS lautet übrigens {}",
            "Passwort des Druckers: {}",
        ),
    ),
    Kind(
        "French, a fourth time",
        "<pw>",
        (
            "mot de passe du serveur : {}",
            "Le mot de passe est « {} »",
            "mon mot de passe Gmail : {}",
        ),
    ),
    Kind(
        "Spanish, a fourth time",
        "<pw>",
        ("mi contraseña de Netflix es {}", "Contraseña del router: {}", 'la contraseña es "{}"'),
    ),
    Kind(
        "Italian, a fourth time",
        "<pw>",
        ("La mia password per il forum è {}", "password: {}", "la password del NAS è: {}"),
    ),
    Kind(
        "Portuguese, a fourth time",
        "<pw>",
        ("minha senha do banco é {}", "senha do roteador: {}", 'a senha é "{}"'),
    ),
    Kind(
        "Dutch, a fourth time",
        "<pw>",
        ("mijn wachtwoord voor het forum is {}", "wachtwoord = {}", "het wifi-wachtwoord is {}"),
    ),
    Kind(
        "Polish, a fourth time",
        "<pw>",
        ("moje hasło do banku to {}", "hasło: {}", "hasło wifi to {}"),
    ),
    Kind(
        "Russian, a fourth time",
        "<pw>",
        ("мой пароль от форума — {}", "пароль: {}", "пароль к серверу {}"),
    ),
    Kind("Chinese, a fourth time", "<pw>", ("我的邮箱密码是 {}", "服务器密码：{}", "密码改为 {}")),
    Kind(
        "Japanese, a fourth time",
        "<pw>",
        ("サーバーのパスワードは {} です。", "パスワード: {}", "私のパスワードは{}"),
    ),
    Kind(
        "key in a file",
        "<edge>BEGIN PRIVATE KEY<edge>\n<b64>\n<b64>\n<b64>\n<b44>==\n<edge>END PRIVATE KEY<edge>",
        ("cat key.pem\n{}", "tls.key: |\n{}", 'PRIVATE_KEY="{}"'),
    ),
    Kind(
        "words of a wallet",
        "<words12>",
        (
            "My wallet's seed phrase is {}",
            'mnemonic = "{}"',
            "Recovery phrase: {}",
            "seed words: {}",
        ),
    ),
    Kind(
        "session of a browser",
        "<A52>",
        (
            "Cookie: session={}",
            "document.cookie = 'auth={}'",
            "Set-Cookie: sid={}; Path=/; HttpOnly",
        ),
    ),
)

KINDS = (*_SERVICES, *_SAID)
