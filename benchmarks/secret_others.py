"""The other half: kinds and phrasings that were written down after the rules had been frozen."""

from __future__ import annotations

from benchmarks.secret_making import Kind

_LOOSE = (
    "Heads-up from Bo: {} is what the importer needs now.",
    "  importer:\n    image: importer:3\n    arg: {}\n    retries: 2",
    "* For the export run I set it to {} (Tuesday)",
    "new Importer('{}').run()",
    "INTEGRATION={}",
    "> {}\n\nThat is the one Ann sent.",
    '["importer", "{}", "eu"]',
)
"""Texts that do not say what it is."""
_NAMED = (
    "{name} token is {}",
    "{name}_TOKEN={}",
    "We pay for {name}; credentials live with Ann, the api key: {}",
    '  "{name}Key": "{}",',
    "auth for {name}: token={}",
    "-H 'X-{name}-Token: {}'",
)
"""Texts that say it."""


def _named(name: str) -> tuple[str, ...]:
    return tuple(text.replace("{name}", name) for text in _NAMED)


_MARKED = (
    ("RubyGems key", "rubygems_<h48>"),
    ("NuGet key", "oy2<a43>"),
    ("Clojars token", "CLOJARS_<h60>"),
    ("Pulumi token", "pul-<h40>"),
    ("Dynatrace token", "dt0c01.<U24>.<U64>"),
    ("Flutterwave key", "FLWSECK_TEST-<h32>-X"),
    ("Braintree token", "access_token$production$<a16>$<h32>"),
    ("Plaid token", "access-production-<uuid>"),
    ("Dropbox token", "sl.B<w130>"),
    ("Tailscale key", "tskey-auth-<A12>CNTRL-<A32>"),
    ("Typeform token", "tfp_<A44>_<A14>"),
    ("Contentful token", "CFPAT-<w43>"),
    ("Sourcegraph token", "sgp_<h40>"),
    ("Octopus key", "API-<U26>"),
    ("Harness token", "pat.<A22>.<h24>.<A20>"),
    ("Buildkite token", "bkua_<h40>"),
    ("EasyPost key", "EZAK<A54>"),
    ("Shippo token", "shippo_live_<h40>"),
    ("Duffel token", "duffel_live_<A43>"),
    ("ReadMe key", "rdme_<a70>"),
    ("Prefect key", "pnu_<A36>"),
    ("Infracost key", "ico-<A32>"),
    ("PostHog key", "phx_<A43>"),
    ("JFrog key", "AKCp<A69>"),
    ("Cal.com key", "cal_live_<h32>"),
    ("Trello token", "ATTA<h64>"),
    ("Elastic key", "essu_<A60>"),
    ("Scaleway key", "SCWSECRET-<uuid>"),
)
_UNMARKED = (
    ("Algolia", "<h32>"),
    ("Shodan", "<A32>"),
    ("ngrok", "<A27>_<A21>"),
    ("Zoom", "<A32>"),
    ("Hetzner", "<A64>"),
    ("Mistral", "<A32>"),
    ("DeepL", "<uuid>:fx"),
)

_OTHERS = (
    Kind(
        "EC private key",
        "<edge>BEGIN EC PRIVATE KEY<edge>\n<b64>\n<b64>\n<b40>==\n<edge>END EC PRIVATE KEY<edge>",
        ("signing.pem:\n{}\n", "```\n{}\n```", "Bo's old key, keep:\n\n  {}"),
    ),
    Kind(
        "encrypted private key, cut off",
        "<edge>BEGIN ENCRYPTED PRIVATE KEY<edge>\n<b64>\n<b64>\n<b64>",
        ("{}",),
    ),
    Kind(
        "WireGuard key",
        "<b43>=",
        ("[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32", "PresharedKey={}"),
    ),
    Kind("Laravel key", "base64:<b43>=", ("APP_KEY={}",)),
    Kind(
        "Django key",
        "django-insecure-<A20>!<A14>&<A14>",
        ("SECRET_KEY = '{}'", 'SECRET_KEY="{}"'),
    ),
    Kind("Rails key", "<h32>", ("RAILS_MASTER_KEY={}", "config/master.key is {}")),
    Kind(
        "Kubernetes secret",
        "<b22>==",
        ("kind: Secret\ndata:\n  db-password: {}\n  user: YW5u", "  client-key-data: {}"),
    ),
    Kind(
        "signed address",
        "<A44>",
        (
            "https://files.example.org/d/1?token={}&expires=1700000000",
            "https://acct.blob.core.windows.net/c/f?sv=2022-11-02&se=2025-01-01&sr=b&sig={}",
            "wss://stream.example.org/?access_token={}",
        ),
    ),
    Kind(
        "webhook address",
        "<A68>",
        (
            "https://discord.com/api/webhooks/<d18>/{}",
            "Alerts go to https://discordapp.com/api/webhooks/<d18>/{} now",
        ),
    ),
    Kind(
        "password in a statement",
        "<pw>",
        (
            "CREATE USER app WITH ENCRYPTED PASSWORD '{}';",
            "ALTER LOGIN app WITH PASSWORD = '{}'",
            "SET PASSWORD FOR 'app'@'%' = '{}';",
            "GRANT ALL ON shop.* TO 'app'@'%' IDENTIFIED BY '{}'",
        ),
    ),
    Kind(
        "connection string",
        "<pw>",
        (
            "Driver={SQL Server};Server=db;Uid=app;Pwd={};",
            "mssql+pyodbc://app:{}@db/shop?driver=ODBC",
            "ftp://ann:{}@files.example.org/in",
            "Data Source=db;User=app;Password='{}';",
        ),
    ),
    Kind(
        "password in code",
        "<pw>",
        (
            "connect(host='db', user='app', passwd='{}')",
            "auth=('ann', '{}')  # basic auth for the wiki",
            'private const string AdminPwd = "{}";',
            "$pass = '{}';",
            'val password by lazy { "{}" }',
            'System.setProperty("javax.net.ssl.keyStorePassword", "{}");',
            "db_pass: !str {}",
            "export PGPASSWORD='{}'; psql -h db",
            "rabbitmqctl add_user ann {}",
            "kubectl create secret generic db --from-literal=password={}",
            "vpn:\n  user: ann\n  pass: {}",
            "[mail]\nuser = ann\npassword = {}\n",
        ),
    ),
    Kind("password hash", "$2b$12$<A53>", ("ann:{}", "hash in the table: {}")),
    Kind(
        "one-time password seed",
        "<232>",
        ("otpauth://totp/GitHub:ann?secret={}&issuer=GitHub", "My 2FA secret for GitHub is {}"),
    ),
    Kind(
        "cookie",
        "<A48>",
        (
            "cu<cut>rl -b 'session={}' https://example.org",
            "Cookie: _ga=GA1.2.3; laravel_session={}",
        ),
    ),
    Kind(
        "password, told otherwise",
        "<pw>",
        (
            "The Netflix login uses my mail address and the password {} since May.",
            "sudo password on the Pi: {}",
            "Root pw is still {} there",
            "Bo says the NAS password got changed to {}.",
            "my usual password, {}, works there too",
            "You'll need the passphrase {} to open the archive",
            "wifi at the cabin: network Alder, pw {}",
            "SSID: Alder\nKey: {}",
            "password = {} (all lower case)",
            "Please save my bank password: {}",
            "the password (for guests) is {}",
            "my email password used to be {}",
            "Ann's laptop unlocks with {}",
            "To get into the wiki type ann and {}",
            "credentials for staging: user ann, password {}",
            "ftp access: ann / {}",
        ),
    ),
    Kind(
        "number, told otherwise",
        "<d6>",
        (
            "my phone's passcode is {}",
            "unlock code for the tablet: {}",
            "To disarm the alarm, type {}",
            "the safe opens with {}",
            "Garage keypad: {}",
            "my debit card pin's {}",
            "PIN for voicemail = {}",
            "the lockbox combo is {}",
        ),
    ),
    Kind(
        "German, otherwise",
        "<pw>",
        (
            "Merk dir bitte: Das Passwort vom Router ist {}",
            "Zugangsdaten fürs Wiki: ann / {}",
            "Ich habe das Kennwort auf {} geändert",
            "WLAN-Schlüssel: {}",
            "Für Netflix nehme ich das Passwort {}",
        ),
    ),
    Kind(
        "French, otherwise",
        "<pw>",
        (
            "Pour le serveur, utilise {} comme mot de passe",
            "identifiant : ann, mot de passe : {}",
            "Le nouveau mot de passe de la box est {}.",
            "J'ai changé mon mot de passe en {}",
        ),
    ),
    Kind(
        "Spanish, otherwise",
        "<pw>",
        (
            "usa {} como contraseña",
            "usuario: ann, contraseña: {}",
            "La clave del wifi es {}",
            "cambié la contraseña a {}",
        ),
    ),
    Kind(
        "Italian and Portuguese, otherwise",
        "<pw>",
        (
            "usa {} come password",
            "la password di Netflix è diventata {}",
            "a palavra-passe do portal é {}",
            "troquei a senha para {}",
        ),
    ),
    Kind(
        "Dutch and Polish, otherwise",
        "<pw>",
        (
            "het nieuwe wachtwoord voor de wifi is {}",
            "wachtwoord van de router: {}",
            "hasło do routera: {}",
            "zmieniłem hasło na {}",
        ),
    ),
    Kind(
        "Russian and Ukrainian, otherwise",
        "<pw>",
        (
            "Запомни: пароль от роутера — {}",
            "пароль на ноутбуке теперь {}",
            "пароль до пошти: {}",
            "мій пароль {}",
        ),
    ),
    Kind(
        "Chinese and Japanese, otherwise",
        "<pw>",
        (
            "路由器密码改成{}了",
            "帐号 ann 密码 {}",
            "新しいパスワードは{}に変更しました",
            "ログイン: ann / パスワード: {}",
        ),
    ),
    Kind(
        "other languages",
        "<pw>",
        (
            "moja lozinka je {}",
            "la contrasenya és {}",
            "паролата ми е {}",
            "minu parool on {}",
            "moje heslo do banky je {}",
            "vores adgangskode er {}",
            "mitt lösenord är {}",
            "parolam {}",
            "비밀번호를 {}로 바꿨어요",
            "salasanani on {}",
        ),
    ),
    Kind(
        "recovery words, otherwise",
        "<words24>",
        ("Wallet words (24), recovery: {}", "these 24 words restore my wallet: {}", "Seed:\n{}"),
    ),
)

KINDS = (
    *(Kind(name, pattern, _LOOSE) for name, pattern in _MARKED),
    *(Kind(f"{name} key", pattern, _named(name)) for name, pattern in _UNMARKED),
    *_OTHERS,
)
