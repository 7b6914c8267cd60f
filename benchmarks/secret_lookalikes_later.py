"""Texts without a secret that look as if they held one, written after the rules were frozen."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.secret_making import Sample, filled

_LATER = """\
The passphrase prompt appears twice.
Ann asked which password manager we use; Bo said Bitwarden.
My password has 14 characters and no digit.
Change your password every year, says the policy.
The password was last changed on 2024-03-01.
password strength: 3/4
Her password is easy to guess.
We store a salted hash of the password, never the password itself.
The wifi here has no password.
The wifi password changes every Monday at 06:00.
If the password is lost, call 555-0100.
Forgot password? Use the link in the mail.
password: (see the vault)
password: the usual one
passwords: none
- Password rotation: every 90 days
- Token limit: 8192
- API key: in 1Password, vault "Team"
- Secret: stored in AWS Secrets Manager
The API key for the weather service belongs to Ann.
Keep API keys out of the repository.
The key for the bike is on the hook.
Key decisions: 1. use SQLite 2. no ORM
The key figure is 42%.
Tokens are cached for 15 minutes.
An access token expires after 1 hour, a refresh token after 30 days.
The token was revoked on Tuesday.
The secret santa draw is on December 12.
He keeps a secret diary since 1998.
The secretary called at 10:15.
Authorization: required
The auth service runs on port 8443.
auth_provider: keycloak24
PIN entry fails after 3 attempts.
The pin code must have 4 digits.
Pin the version to 2.3.1.
We pinned torch==2.5.1 in requirements.txt.
The unlock screen shows the time.
Unlock the door before 8:00.
The gate opens at 7:30.
The garage is open until 18:00.
Our code freeze starts on 2024-12-20.
The code name of the project is Walrus2.
Error code 0x80070005 means access denied.
The booking code is needed at the gate.
Country code 0049, area code 030.
The combination of tea and milk is fine.
The login was moved to auth.example.org.
Logins per day: 1532
Her login name is ann_lee2.
Credentials are read from ~/.aws/credentials.
The recovery point objective is 4 hours.
Recovery: two weeks of rest, then light training, then short runs, then long runs, then races again.
The wallet was found on the bus.
The seed of the generator is 20240101.
Cookie: see the privacy page
The session lasted 45 minutes.
Mein Passwort kenne nur ich.
Das Passwort steht im Tresor.
Passwörter laufen nach 90 Tagen ab.
Die PIN muss vierstellig sein.
Das neue Kennwort kommt per Post.
Der Code für den Parser liegt in parser.py.
Le mot de passe expire dans 30 jours.
Le code de la route date de 1921.
Mon code postal est le 69003.
La contraseña caduca en 90 días.
El código fuente está en GitHub.
La password scade tra 30 giorni.
Il codice fiscale va indicato qui.
A senha expira em 30 dias.
O código de barras está na caixa.
Het wachtwoord verloopt over 30 dagen.
De postcode is 1012 AB.
Hasło wygasa za 30 dni.
Kod pocztowy to 00-950.
Пароль истекает через 30 дней.
Код ошибки 404.
密码将在30天后过期。
邮政编码是100080。
パスワードの有効期限は30日です。
郵便番号は100-0001です。
Jira: MEM-1234, Confluence page 98765432
Meeting id 812 3456 7890
Order 302-1234567-1234567 was shipped
IBAN: see the invoice
Tracking number 1Z999AA10123456784
Licence plate B-XY 1234
Model: gpt-4o-2024-08-06
Model: claude-3-5-sonnet-20241022
Branch: feature/mem-123-redact-secrets
Image: ghcr.io/acme/app:1.4.2-alpine3.20
Wheel: numpy-2.1.3-cp311-cp311-manylinux_2_17_x86_64.whl
Function: test_secret_is_redacted_before_it_is_written
Class: UserPasswordAuthenticationToken
Endpoint: POST /v1/api-keys/rotate
Env: OPENAI_API_KEY, ANTHROPIC_API_KEY, GITHUB_TOKEN
Variables: DB_USER, DB_PASSWORD, DB_HOST
Set GITHUB_TOKEN in the settings of the repository.
Never commit .env files or tokens.
os.environ["OPENAI_API_KEY"] must be set
token = request.headers.get("Authorization", "").removeprefix("Bearer ")
if not secrets.compare_digest(token, expected): return 401
const apiKey = config.get("apiKey");
password_confirmation: string
"passwordPolicy": {"minLength": 12, "requireDigits": true}
secretRef: database-credentials
key: database-url
existingSecret: postgres-credentials
ssl_key_file = /etc/ssl/private/app.key
--api-key-file=/run/secrets/openai
public_key = "ssh-ed25519 in the wiki"
cache.set(key=f"session:{sid}", value=payload, ttl=3600)
sorted(items, key=itemgetter(1), reverse=True)
KEY_PREFIX = "memory:v2:"
TOKEN_PATTERN = r"[A-Za-z0-9_]{20,}"
EXAMPLE_TOKEN = "<paste your token here>"
Authorization: Bearer <access_token>
cu<cut>rl -u "$USER:$PASSWORD" https://example.org
mysql -u root -p$MYSQL_PWD
postgres://app:$PGPASSWORD@db/shop
https://user@github.com/org/repo.git
git@github.com:org/repo.git
redis://cache:6379/0
"""
_LATER_GENERATED = (
    ("git id", "cherry-picked from <h40>, see token.py"),
    ("git id", "bisect: first bad commit is <h40>"),
    ("checksum", "secret.zip has the SHA-256 <h64>"),
    ("checksum", "The file's hash: <h64>"),
    ("checksum", "key.pub fingerprint: SHA256:<b43>"),
    ("checksum", "yarn: integrity sha512-<b86>=="),
    ("UUID", "user id: <uuid>"),
    ("UUID", "The key of the record is <uuid>"),
    ("UUID", "tenant <uuid>, subscription <uuid>"),
    ("UUID", "correlation-id=<uuid>"),
    ("identifier", "Sheet: https://docs.google.com/spreadsheets/d/<A44>/edit#gid=0"),
    ("identifier", "Drive folder <A33>"),
    ("identifier", "Notion page <h32>"),
    ("identifier", "https://www.notion.so/team/Roadmap-<h32>"),
    ("identifier", "Sentry event <h32>"),
    ("identifier", "Stripe customer cus_<A14>, subscription sub_1<A23>"),
    ("identifier", "assistant asst_<A24> with file-<A24>"),
    ("identifier", "Slack channel C<U10>, user U<U10>"),
    ("identifier", "contract 0x<h40>"),
    ("identifier", "tx 0x<h64>"),
    ("identifier", "deployment dpl_<A28>"),
    ("identifier", "container <h12> exited with code 137"),
    ("identifier", "docker image <h64>"),
    ("picture", "<img src='data:image/gif;base64,R0lGODlh<b120>'>"),
    ("picture", "![](data:image/webp;base64,UklGR<b160>)"),
    ("public key", "AAAAB3NzaC1yc2EAAAADAQAB<b120> is Ann's public key"),
    ("public key", "client_id: <d12>-<a32>.apps.googleusercontent.com"),
    ("number", "The PIN pad is at <d3> Main Street"),
    ("number", "code review #<d4> took <d2> minutes"),
    ("number", "password attempts: <d2>"),
)


def later_lookalikes(seed: int = 5) -> Iterator[Sample]:
    """Return the harmless texts that were written after the rules had been frozen."""
    rng = random.Random(seed)
    for kind, pattern in _LATER_GENERATED * 2:
        yield Sample(kind, filled(rng, pattern))
    for line in _LATER.splitlines():
        yield Sample("later", filled(rng, line))
