"""The rules' half: kinds of credentials, and phrasings, that were at hand while rules were made."""

from __future__ import annotations

from benchmarks.secret_making import Kind

_ANYWHERE = (
    "Use {} when you call it from the nightly job.",
    "- deploy notes\n- it wants {} as of Monday\n- ask Bo if it fails",
    'client = Client("{}")',
    "| staging | {} | rotates in May |",
    "SERVICE_TOKEN={}",
    "Ann pasted `{}` into the chat, keep it for later.",
    'headers = {"X-Service": "{}", "Accept": "*/*"}',
)
"""Texts without a word for a secret, or with one that any service would have."""
_KEYED = (
    "export <word>_API_KEY={}",
    'api_key: "{}"',
    "The API key for the weather service is {}",
    '{"endpoint": "https://api.example.org", "secret_key": "{}", "retries": 3}',
    "access token: {}",
    "--api-key {} --verbose",
    "const apiKey = '{}';",
)
"""Texts that say what it is, for values that nothing marks."""

_WITH_PREFIX = (
    ("AWS access key", "AKIA<216>"),
    ("Google API key", "AIza<w34>x"),
    ("Google OAuth secret", "GOCSPX-<w28>"),
    ("Azure client secret", "<A3>8Q~<A34>"),
    ("GitHub token", "ghp_<A36>"),
    ("GitHub app token", "ghs_<A36>"),
    ("GitHub fine-grained token", "github_pat_<A22>_<A59>"),
    ("GitLab token", "glpat-<w20>"),
    ("Slack bot token", "xoxb-<d12>-<d13>-<A24>"),
    ("Slack app token", "xapp-1-A<U10>-<d13>-<h64>"),
    ("Stripe key", "sk_live_<A24>"),
    ("Stripe restricted key", "rk_test_<A40>"),
    ("OpenAI key", "sk-proj-<A48>"),
    ("OpenAI old key", "sk-<A48>"),
    ("Anthropic key", "sk-ant-api03-<w93>AA"),
    ("Hugging Face token", "hf_<A34>"),
    ("Groq key", "gsk_<A52>"),
    ("Replicate token", "r8_<A37>"),
    ("Twilio key", "SK<h32>"),
    ("SendGrid key", "SG.<w22>.<w43>"),
    ("Mailgun key", "key-<h32>"),
    ("Mailchimp key", "<h32>-us12"),
    ("npm token", "npm_<A36>"),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc<w80>"),
    ("DigitalOcean token", "dop_v1_<h64>"),
    ("Shopify token", "shpat_<h32>"),
    ("Square token", "sq0atp-<A22>"),
    ("Telegram bot token", "<d10>:AA<A33>"),
    ("Discord bot token", "MT<A22>.<A6>.<A38>"),
    ("Databricks token", "dapi<h32>"),
    ("Notion token", "ntn_<d11><A35>"),
    ("Linear key", "lin_api_<A40>"),
    ("Figma token", "figd_<A40>"),
    ("Postman key", "PMAK-<h24>-<h34>"),
    ("Grafana token", "glsa_<A32>_<h8>"),
    ("Vault token", "hvs.<A24>"),
    ("Doppler token", "dp.pt.<A43>"),
    ("Heroku key", "HRKU-<uuid>"),
    ("Okta token", "00<w39>x"),
    ("Atlassian token", "ATATT3xFfGF0<w171>=<H8>"),
    ("Airtable token", "pat<A14>.<h64>"),
    ("Supabase key", "sbp_<h40>"),
    ("PlanetScale token", "pscale_tkn_<w43>"),
    ("Fly.io token", "fm2_<b120>"),
    ("Netlify token", "nfp_<A40>"),
    ("Sentry token", "sntryu_<h64>"),
    ("New Relic key", "NRAK-<U27>"),
    ("web token", "eyJhbGciOiJIUzI1NiJ9.eyJ<json64>.<w43>"),
    ("generic prefixed token", "zephyr_sk_<A32>"),
)
_WITHOUT_PREFIX = (
    ("AWS secret key", "<b40>"),
    ("Cloudflare token", "<w40>"),
    ("Datadog key", "<h32>"),
    ("Twilio auth token", "<h32>"),
    ("Vercel token (old)", "<A24>"),
    ("Postmark token", "<uuid>"),
    ("Cohere key", "<A40>"),
)
OTHERS = (
    Kind(
        "RSA private key",
        "<edge>BEGIN RSA PRIVATE KEY<edge>\n<pem>\n<edge>END RSA PRIVATE KEY<edge>",
        ("{}", "The key of the build machine:\n\n{}\n\nDo not lose it.", "key: |\n{}"),
    ),
    Kind(
        "OpenSSH private key",
        "<edge>BEGIN OPENSSH PRIVATE KEY<edge>\\n<b64>\\n<b64>\\n"
        "<edge>END OPENSSH PRIVATE KEY<edge>\\n",
        ('{"private_key": "{}"}', 'KEY="{}"'),
    ),
    Kind(
        "PGP private key",
        "<edge>BEGIN PGP PRIVATE KEY BLOCK<edge>\n\n<pem>\n=<b4>\n"
        "<edge>END PGP PRIVATE KEY BLOCK<edge>",
        ("{}",),
    ),
    Kind(
        "password in a URL",
        "<A14>",
        (
            "postgresql://app:{}@db.internal:5432/orders",
            "The cache is at redis://:{}@10.0.0.7:6379/0 now.",
            "MONGO=mongodb+srv://ann:{}@cluster0.ab1cd.mongodb.net/shop",
            "git clone https://bo:{}@git.example.org/team/repo.git",
            "amqp://<word>:{}@mq:5672/vhost",
        ),
    ),
    Kind(
        "connection string",
        "<pw>",
        (
            "Server=db;Database=shop;User Id=app;Password={};Encrypt=true",
            "jdbc:mysql://db:3306/shop?user=app&password={}&useSSL=true",
            "host=db user=app password={} dbname=shop",
        ),
    ),
    Kind(
        "Azure storage key",
        "<b86>==",
        (
            "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={};EndpointSuffix=core.windows.net",
        ),
    ),
    Kind(
        "bearer header",
        "<A40>",
        (
            "Authorization: Bearer {}",
            "curl -H 'Authorization: Bearer {}' https://api.example.org/v1/me",
            '{"authorization": "Bearer {}"}',
        ),
    ),
    Kind("basic header", "<b28>", ("Authorization: Basic {}", '"Authorization": "Basic {}"')),
    Kind(
        "session cookie",
        "<A40>",
        (
            "Cookie: theme=dark; sessionid={}; lang=en",
            "Set-Cookie: auth_token={}; HttpOnly; Secure",
        ),
    ),
    Kind(
        "Slack webhook",
        "T<U8>/B<U10>/<A24>",
        (
            "https://hooks.slack.com/services/{}",
            "Post to https://hooks.slack.com/services/{} please",
        ),
    ),
    Kind(
        "password, assigned",
        "<pw>",
        (
            "DB_PASSWORD={}",
            'password = "{}"',
            '{"user": "ann", "password": "{}"}',
            "db:\n  user: ann\n  password: {}\n  port: 5432",
            "<user>ann</user>\n<password>{}</password>",
            '<add key="DbPassword" value="{}" />',
            "mysqldump --user=ann --password={} shop > shop.sql",
            "tool login --username ann --password {}",
            'const dbPassword = "{}";',
            "- **Password**: {}",
            "- name: SMTP_PASSWORD\n  value: {}",
            'os.environ["PGPASSWORD"] = "{}"',
            "| user | password |\n|---|---|\nmachine example.org login ann password {}",
        ),
    ),
    Kind("password in a command", "<pw>", ("cu<cut>rl -u ann:{} https://example.org/api",)),
    Kind(
        "wifi password",
        "<pw>",
        (
            "my wifi password is {}",
            "The Wi-Fi password at the cabin is: {}",
            "wifi password: {}",
            "Guests can use the network Alder, the password is {}.",
        ),
    ),
    Kind(
        "password, told",
        "<pw>",
        (
            "My password for the wiki is {}.",
            "Remember that the admin password is '{}'",
            "{} is my password, please remember it",
            "I changed the password to {} yesterday",
            "Use {} as the password for the test account.",
        ),
    ),
    Kind("plain word as password", "<word><word>", ("my laptop password is {}", "password: {}")),
    Kind(
        "PIN",
        "<d4>",
        (
            "the pin for the alarm is {}",
            "My PIN is {}",
            "PIN: {}",
            "The SIM card's pin is {}, in case you ask",
        ),
    ),
    Kind(
        "door code",
        "<d5>",
        ("the code for the garage door is {}", "Gate code: {}", "The alarm code is {}#"),
    ),
    Kind("German", "<pw>", ("Mein WLAN-Passwort lautet {}", "Das Kennwort für den Server ist {}.")),
    Kind(
        "French",
        "<pw>",
        ("mon mot de passe est {}", "Le mot de passe du wifi, c'est {}", "Mot de passe : {}"),
    ),
    Kind(
        "Spanish",
        "<pw>",
        ("mi contraseña es {}", "La contraseña del correo es {}", "Contraseña: {}"),
    ),
    Kind("Italian", "<pw>", ("la mia password è {}", "La password del router è {}")),
    Kind("Portuguese", "<pw>", ("minha senha é {}", "A senha do wifi é {}", "Senha: {}")),
    Kind("Dutch", "<pw>", ("mijn wachtwoord is {}", "Het wachtwoord van de wifi is {}")),
    Kind("Polish", "<pw>", ("moje hasło to {}", "Hasło do wifi: {}")),
    Kind("Russian", "<pw>", ("мой пароль {}", "Пароль от вайфая: {}", "{} — мой пароль от почты")),
    Kind("Chinese", "<pw>", ("我的密码是{}", "WiFi密码：{}", "请记住，服务器的密码是 {}。")),
    Kind(
        "Japanese",
        "<pw>",
        ("パスワードは {} です", "WiFiのパスワード：{}", "パスワードは「{}」です。"),
    ),
    Kind(
        "seed phrase",
        "<words12>",
        ("my seed phrase: {}", "Recovery phrase of the wallet:\n{}", "The mnemonic is {}"),
    ),
    Kind("log-in pair", "<pw>", ("login: ann / {}", "credentials are admin:{}")),
)

KINDS = (
    *(Kind(name, pattern, _ANYWHERE) for name, pattern in _WITH_PREFIX),
    *(Kind(name, pattern, _KEYED) for name, pattern in _WITHOUT_PREFIX),
    *OTHERS,
)
