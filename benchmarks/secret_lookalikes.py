"""Texts without a secret that look as if they held one."""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.secret_making import Sample, filled

_GENERATED = (
    ("git id", "Fixed in commit <h40>."),
    ("git id", "Revert <h7>, it broke the build"),
    ("git id", "HEAD is now at <h10> Add a test"),
    ("git id", "The key change is commit <h40>"),
    ("git id", "index <h7>..<h7> 100644"),
    ("git id", "token refresh was fixed in <h40>"),
    ("checksum", "sha256: <h64>"),
    ("checksum", "<h64>  memoryware-0.1.0.tar.gz"),
    ("checksum", "md5sum of the archive is <h32>"),
    ("checksum", "image: registry.example.org/app@sha256:<h64>"),
    ("checksum", '"integrity": "sha512-<b86>=="'),
    ("checksum", "--hash=sha256:<h64>"),
    ("checksum", "SHA1 <h40>"),
    ("checksum", "ETag: <h32>"),
    ("checksum", "the cache key is <h32>"),
    ("checksum", "SHA256:<b43> ann@laptop (ED25519)"),
    ("checksum", "key fingerprint = <H4> <H4> <H4> <H4> <H4>  <H4> <H4> <H4> <H4> <H4>"),
    ("UUID", "request id <uuid>"),
    ("UUID", '{"id": "<uuid>", "status": "open"}'),
    ("UUID", "https://example.org/orders/<uuid>"),
    ("UUID", "The session was <uuid>, started at noon."),
    ("UUID", "idempotency key: <uuid>"),
    ("UUID", "the primary key is <uuid>"),
    ("identifier", "msg_01<A22>"),
    ("identifier", "chatcmpl-<A29>"),
    ("identifier", "call_<A24>"),
    ("identifier", "thread_<A24>"),
    ("identifier", "toolu_01<A22>"),
    ("identifier", "price_1<A23>"),
    ("identifier", "cus_<A14>"),
    ("identifier", "pi_3<A23>"),
    ("identifier", "i-0<h16> runs in eu-west-1"),
    ("identifier", "vpc-0<h16>, subnet-0<h16>"),
    ("identifier", "arn:aws:iam::<d12>:role/deploy"),
    ("identifier", "arn:aws:secretsmanager:eu-west-1:<d12>:secret:prod/db-<A6>"),
    ("identifier", "pod api-server-<a10>-<a5> was restarted"),
    ("identifier", "trace 00-<h32>-<h16>-01"),
    ("identifier", "order number <U10>"),
    ("identifier", "invoice_<d8>_final_v2.pdf"),
    ("identifier", "tracking code <d12>"),
    ("identifier", "0x<h40> is the contract's address"),
    ("identifier", "bc1q<a38>"),
    ("identifier", "https://youtu.be/<w11>"),
    ("identifier", "https://docs.google.com/document/d/<w44>/edit"),
    ("identifier", "https://www.figma.com/file/<A22>/Design"),
    ("identifier", "ISBN 978-<d1>-<d4>-<d4>-<d1>"),
    ("identifier", "next_page_token=<A32>"),
    ("identifier", '"nextPageToken": "<A40>"'),
    ("identifier", "main.<h20>.js and vendor.<h20>.js"),
    ("identifier", "_Button_root_<a5>_1"),
    ("identifier", "Serial number: C02<U9>"),
    ("public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> ann@laptop"),
    ("public key", "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ<b200> bo@desk"),
    ("public key", "pk_live_<A24>"),
    ("public key", "publishable key: pk_test_<A24>"),
    ("public key", "<edge>BEGIN CERTIFICATE<edge>\n<b64>\n<b64>\n<edge>END CERTIFICATE<edge>"),
    ("public key", "<edge>BEGIN PUBLIC KEY<edge>\n<b64>\n<edge>END PUBLIC KEY<edge>"),
    ("public key", "PublicKey = <b43>="),
    ("public key", "public_key: <h64>"),
    ("picture", "![logo](data:image/png;base64,iVBORw0KGgo<b200>=)"),
    ("picture", '<img src="data:image/jpeg;base64,/9j/4AAQ<b160>">'),
    ("picture", "url(data:image/svg+xml;base64,PHN2<b120>)"),
    ("picture", "data:font/woff2;base64,d09GMgAB<b180>"),
    ("number", "Call <d3>-<d4> between 9 and 5"),
    ("number", "zip code <d5>"),
    ("number", "The error code is <d4>."),
    ("number", "exit code <d3>"),
    ("number", "The area code is <d3>"),
    ("number", "Room <d3>, second floor"),
    ("number", "max_tokens: <d4>"),
    ("number", "The model used <d5> tokens"),
    ("number", "pin <d2> is ground"),
    ("number", "Flight LH<d4>, seat 12A, booking <U6>"),
)
_PLACEHOLDERS = """\
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=your-api-key-here
export ANTHROPIC_API_KEY="<your key>"
api_key = "YOUR_API_KEY"
api_key: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
token: <token>
token: ${GITHUB_TOKEN}
GITHUB_TOKEN=$TOKEN
password: changeme
password: ********
password: "${DB_PASSWORD}"
password: {{ vault_db_password }}
DB_PASSWORD=%DB_PASSWORD%
PASSWORD=your_password_here
secret_key = os.environ["SECRET_KEY"]
secret = os.getenv("CLIENT_SECRET")
const token = process.env.API_TOKEN;
apiKey: process.env.STRIPE_KEY!,
password = settings.DB_PASSWORD
password = getpass.getpass("Password: ")
password = input("Enter your password: ")
token = tokens[0]
token = tokenizer.decode(ids[position])
api_key=api_key, model=model
self.password = password
password: str
password: str = Field(min_length=12)
password: Optional[str] = None
def login(user: str, password: str) -> Token:
const { password, email } = req.body
<input type="password" name="password" placeholder="Password">
"password": "string"
"password": null
"password": ""
password: required|min:8
password: { type: String, required: true }
token: ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
ghp_yourtokengoeshere
key: AKIAIOSFODNN7EXAMPLE
aws_secret_access_key = <secret>
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer {token}
cu<cut>rl -u user:password https://example.org
cu<cut>rl -H "Authorization: Bearer YOUR_TOKEN"
postgres://user:password<at>localhost/db
postgresql://USER:PASSWORD<at>HOST:5432/DB
mongodb://username:<password>@cluster.example.org
https://user:pass@example.org/
redis://:${REDIS_PASSWORD}@cache:6379
https://${USER}:${TOKEN}@github.com/org/repo
sk_test_...
sk-ant-...
xoxb-your-token
hf_...
token = "dummy-token"
api_key="test-key"
secret: !Ref DatabaseSecret
password: op://vault/item/password
password_hash = bcrypt.hash(password)
valueFrom:\n  secretKeyRef:\n    name: db-secret\n    key: password
secretName: tls-secret
api_key_env: OPENAI_API_KEY
token_url: https://example.org/oauth/token
AccountKey=<account-key>;EndpointSuffix=core.windows.net
<edge>BEGIN PRIVATE KEY<edge>\n...\n<edge>END PRIVATE KEY<edge>
"key": "value"
key = "name"
secret = "TODO"
API_TOKEN=
password=
PASSWORD: [redacted: password]
token: [redacted: GitHub token]
client_secret=REPLACE_ME
client_secret: "insert-secret-here"
api_key = "0123456789abcdef0123456789abcdef"
token = "abcdefghijklmnopqrstuvwxyz"
password=password
passwd = "passwd"
pwd=$(pwd)
KEY_FILE=/etc/ssl/private/server.key
ssh_key_path: ~/.ssh/id_ed25519
cookie: sessionid=<id>
Set-Cookie: theme=dark; Path=/; HttpOnly
csrf_token: {% csrf_token %}
"""
_PROSE = """\
I forgot my password is wrong again
Never store passwords in memory files.
The password must have at least 12 characters.
The password is required.
The password is hashed with bcrypt.
The password is stored in 1Password.
My password is too short, it says.
My password is expired, please remind me to change it on Monday.
The user forgot their password twice this week.
Password reset links are valid for 24 hours.
password policy: 12 characters, 1 digit, 1 sign
Passwords are rotated every 90 days.
The wifi password is on the fridge.
The wifi password is written on the back of the router.
Ask Ann for the wifi password.
The password is the same as for the wiki.
My password manager is KeePassXC.
The password for the demo is in the vault.
We use OAuth2 instead of passwords.
Her password hint is the name of her first dog.
He changed his password yesterday.
The password field is called user_password in the form.
What is the password?
Is the password case-sensitive?
The password is case-sensitive.
The password should be long and random.
My password was stolen in 2019.
A strong password is important.
The password is not shared with anybody.
Password: see 1Password
password: ask Bo
The tokens are counted with tiktoken.
The context window has 200000 tokens.
Each token costs 0.000015 dollars.
A token is about four characters.
The token bucket refills every 10 seconds.
The tokenizer is a BPE one with 50257 entries.
The secret of good bread is time.
The secret is to listen.
It's no secret that Bo likes tea.
Her secret ingredient is cinnamon.
The key to success is patience.
The key idea is to write once.
The key is under the mat.
My keys are in the blue jacket.
Press the Enter key twice.
The piano piece is in the key of C sharp minor.
The key takeaway from Q3 2024 is growth.
The primary key is user_id.
Sort by the key created_at.
The API key is stored in the keychain.
The API key is rotated by the platform team every 30 days.
API keys expire after 90 days.
You need an API key for this endpoint.
The access token is valid for 3600 seconds.
Set the API key in the environment variable OPENAI_API_KEY.
Use the header X-Api-Key.
Authentication is by bearer token.
The bearer of this letter is my friend.
Basic authentication is disabled.
The code for the parser is in parser.py.
The code is 300 lines long.
The dress code is business casual.
The promo code is SAVE20.
The door code was changed last week.
The country code is +49.
The QR code is on page 12.
The source code of version 2.1.0 is public.
Our code review takes 24 hours.
The status code is 404.
The pin on the map is wrong.
He pinned the message at 14:30.
Connect pin 13 to the LED.
A bowling pin weighs 1500 grams.
My PIN is blocked.
The ATM swallowed my card after three wrong PINs.
A combination of 3 factors is needed.
The winning combination is luck and work.
Cookies are baked at 180 degrees for 12 minutes.
The cookie banner must be accepted.
Session 12 of the course is about memory.
Her login is ann@example.org
Log in with your company account.
The login page is slow since v2.3.1.
The user name is ann_lee_1990.
Seeds we sow: basil, dill, thyme, mint, sage, chives, parsley, fennel, oregano, lovage.
The random seed is 42.
seed = 1234567
The recovery took three weeks after the operation and was hard for all of us.
The backup codes are printed and in the safe.
Bring your boarding pass: gate B22, seat 14C.
Pass the salt, please.
She passed the exam with 95 points.
The mountain pass is 2500 m high.
His passport number is in the folder.
We drove past the castle at 18:30.
The keynote starts at 9:00.
The keyboard layout is QWERTZ.
The monkey ate 3 bananas.
Compass heading 270.
The author is Bo; the authority is the city council.
Authorization is handled by the gateway.
The credential helper is osxkeychain.
Salt the water with 10 g per litre.
Ich habe mein Passwort vergessen.
Das Passwort muss mindestens 12 Zeichen haben.
Mein Passwort ist abgelaufen.
Das WLAN-Passwort steht auf dem Router.
Der Schlüssel zum Erfolg ist Geduld.
Das Kennwort wurde am 12.03.2024 geändert.
Die Postleitzahl ist 10115.
J'ai oublié mon mot de passe.
Le mot de passe doit contenir 8 caractères.
Mon mot de passe est trop court.
La clé est sous le paillasson.
Le code postal est 75011.
Olvidé mi contraseña otra vez.
La contraseña debe tener 8 caracteres.
Mi contraseña es demasiado corta.
La clave del éxito es la paciencia.
Ho dimenticato la password.
La password deve avere 8 caratteri.
La password è scaduta.
Esqueci minha senha de novo.
A senha deve ter 8 caracteres.
Ik ben mijn wachtwoord vergeten.
Het wachtwoord moet 8 tekens hebben.
Zapomniałem hasła do poczty.
Hasło musi mieć 8 znaków.
Я забыл пароль от почты.
Пароль должен содержать 8 символов.
Ключ к успеху — терпение.
我忘记了密码。
密码必须至少8位。
密码是必填项。
パスワードを忘れました。
パスワードは8文字以上です。
パスワードは1Passwordに保存しています。
비밀번호를 잊어버렸어요.
비밀번호는 8자 이상이어야 합니다.
"""
_CODE = """\
class PasswordField(CharField): max_length = 128
PASSWORD_RESET_TIMEOUT = 259200
MIN_PASSWORD_LENGTH = 12
password_regex = r"^(?=.*[A-Z])(?=.*\\\\d).{8,}$"
if password != confirm_password: raise ValueError
assert token == expected_token
token_count = len(tokens)
for key, value in items.items():
key = lambda item: item.created_at
sorted(names, key=str.lower)
cache_key = f"user:{user_id}:profile:v2"
s3_key = "reports/2024/03/summary_v2.csv"
row_key = "2024-03-01T00:00:00Z"
partition_key: customer_id_v2
key_name = "deploy-2024"
key_usage = ["digitalSignature", "keyEncipherment"]
secret_name = "prod/db/main"
SECRET_ID = "projects/12345/secrets/db/versions/3"
get_secret("prod-db-password-v2")
vault kv get secret/data/app1
kubectl get secret db-credentials-v2 -o yaml
token_type: bearer
"token_type": "Bearer", "expires_in": 3600
grant_type=client_credentials&scope=read
tokens_per_second: 42.5
pad_token_id: 50256
"eos_token": "<|endoftext|>"
"bos_token": "<s>"
password_file: /run/secrets/db_password
PGPASSFILE=/home/ann/.pgpass
--password-file ./secret.txt
--password-stdin
ssh -i ~/.ssh/id_rsa ann@example.org -p 2222
docker run -p 8080:80 -e MODE=prod2 app:1.2.3
mkdir -p build/output2
mysql -h db.example.org -P 3306 -u app -p
git log -p 4f2a9c1
from memoryware.guard import Guard, Finding
src/memoryware/middleware/file_tools/_access.py
https://example.org/blog/2024/03/how-to-rotate-your-api-keys-safely
https://api.example.org/v1/items?page=2&limit=50&sort=created_at
tests/guard/test_redaction_of_secrets_in_long_files_2.py
com.example.service.AuthenticationTokenProviderFactoryBean2
AbstractSingletonProxyFactoryBean
kubernetes.io/service-account-token
node_modules/.cache/babel-loader/v2
MAX_AUTH_ATTEMPTS=5
JWT_ALGORITHM=HS256
JWT_EXPIRES_IN=15m
API_KEY_HEADER=X-Api-Key
auth: { type: oauth2, flow: code }
"auth": {"method": "oauth2", "provider": "github"}
session_timeout: 1800
cookie_name: app_session_v2
pin_memory=True, num_workers=4
code = response.status_code
login_url = "/accounts/login/"
"keywords": ["agents2", "memory", "langchain"]
"password", "email2", "username"
Password Manager Pro 12.4
color: #a1b2c3d4
border: 1px solid #deadbe
version = "2024.11.27rc1"
pip install torch==2.5.1+cu121
python-3.11.7-embed-amd64.zip
2024-11-27T10:15:30.123456+00:00
192.168.178.21 and 10.0.0.0/8
aa:bb:cc:dd:ee:ff
npm run build:prod -- --mode=production2
INSERT INTO users (name, password_hash) VALUES (?, ?)
SELECT token, expires_at FROM sessions WHERE user_id = 42
ALTER USER app SET default_transaction_isolation = 'read committed'
"""


def lookalikes(seed: int = 3) -> Iterator[Sample]:
    """Return the harmless texts; those with holes twice, filled differently."""
    rng = random.Random(seed)
    for kind, pattern in _GENERATED * 2:
        yield Sample(kind, filled(rng, pattern))
    for kind, lines in (("placeholder", _PLACEHOLDERS), ("prose", _PROSE), ("code", _CODE)):
        for line in lines.splitlines():
            yield Sample(kind, filled(rng, line.replace("\\n", "\n")))
