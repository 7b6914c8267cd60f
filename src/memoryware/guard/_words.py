"""Words for secrets in many languages, and what an identifier made of them stands for."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Final


class Sort(Enum):
    """What a word announces."""

    PASSWORD = "password"
    PIN = "PIN"
    CODE = "access code"
    CARD = "card code"
    LOGIN = "login"
    SECRET = "secret"
    TOKEN = "token"
    KEY = "key"
    SEED = "seed phrase"
    OPENER = "code"


STEMS: Final = (
    "pass pwd pw psk secret token key cred auth jwt pin code kod combination combo login puk cvv"
    " cvc mdp contrase clave senha kennw geheim wachtw haslo hesl parol salasan sifre sandi jelsz"
    " codi losen gesl lozin slapta parool sleutel chiave chave klucz adgang zugang seed mnemonic recovery wallet"
    " lock disarm keypad opens entsperr verrouill desbloq sblocc"
).split()
"""What every such word has in it, in ASCII and lower case."""
BEGINNINGS: Final = frozenset(
    "pw psk cred auth jwt pin combination combo puk cvv cvc mdp clave codi hesl gesl seed"
    " losen parol chave recovery".split()
)
"""Stems that no letter stands before: not the `pin` in `typing`."""
OTHER_STEMS: Final = (
    "código hasł haseł şifre lösen schlüssel clé парол пин код ключ секрет токен κωδικ συνθηματ"
    " المرور السر باسورد סיסמ khẩu"
).split()
"""The same in letters beyond ASCII."""
UNSPACED: Final = {
    **dict.fromkeys(("密码", "密碼", "口令", "パスワード", "パスコード", "合言葉", "비밀번호", "비번", "암호", "รหัสผ่าน", "पासवर्ड"), Sort.PASSWORD),
    **dict.fromkeys(("暗証番号", "パスフレーズ", "暗証", "门禁码", "門禁碼", "PIN码", "PIN碼", "PINコード"), Sort.PASSWORD),
    **dict.fromkeys(("密钥", "密鑰", "令牌", "トークン", "シークレット", "APIキー", "apiキー", "キー", "토큰", "키"), Sort.TOKEN),
}
"""Words of languages that put no blanks between words."""

_PASSWORDS: Final = frozenset(
    (
        "password passwords passwd passphrase passcode passwort passwörter kennwort pwd pw pass"
        " contraseña contrasena clave senha passe mdp wachtwoord hasło haslo hasła hasłem heslo parola"
        " passord lösenord losenord adgangskode kodeord  salasana sandi"
        " parool الباسورد باسورد รหัสผ่าน المرور السر khẩu salasanani psk requirepass masterauth"
        " passparole wachtwoorden userpass dbpass pgpassword psw rootpw bindpw adminpw userpw dbpw"
    ).split()
)
_PASSWORD_STARTS: Final = tuple(
    "парол hasł haseł contrase wachtwoord passwort salasan lösenord losenord passord adgangskod"
    " kodeord heslo hesla jelsz şifre sifre κωδικ συνθηματ סיסמ lozink gesl slaptažod parola parolă"
    " parolam parolas".split()
)
"""The beginnings of words that take endings."""
_PINS: Final = frozenset(
    (
        "pin pincode pins geheimzahl pinnummer пин пинкод pukcode puk"
    ).split()
)
_CARDS: Final = frozenset("cvv cvv2 cvc cvc2 cvn".split())
_CODES: Final = frozenset(
    (
        "code combination combo código codigo codice kod код кода zugangscode türcode toegangscode"
        " zugangscodes codes code's passcodes adgangskode kode kodu türkode keycode"
    ).split()
)
_SECRETS: Final = frozenset("secret secrets geheimnis секрет".split())
_TOKENS: Final = frozenset(
    "token tokens apikey apikeys accesskey secretkey authkey privatekey accountkey"
    " authtoken accesstoken bearer jwt pat токен токена apitoken".split()
)
_KEYS: Final = frozenset(
    "auth key keys schlüssel clé chiave sleutel klucz ключ ключа".split()
)
_LOGINS: Final = frozenset(
    "login logins log-in credentials credential creds cred zugangsdaten identifiants".split()
)
_SEEDS: Final = frozenset("seed mnemonic recovery mnemonics wallet".split())
_NETWORKS: Final = frozenset("wifi wlan wpa wpa2 network netzwerk router ssid".split())
_OPENERS: Final = frozenset(
    (
        "lock unlock unlocks unlocking disarm disarms disarming keypad opens entsperren entsperrt"
        " déverrouiller déverrouille desbloquear sblocca desbloqueia"
    ).split()
)
_ENDINGS: Final = (
    (Sort.PASSWORD, ("password", "passwd", "passphrase", "passwort", "kennwort", "wachtwoord", "pwd")),
    (Sort.SECRET, ("secret",)),
    (Sort.TOKEN, ("token", "apikey")),
)
_KEYED: Final = frozenset(
    (
        "api access secret private auth authentication encryption signing master account service"
        " client app application license licence shared deploy storage admin ssh"
        " connection subscription functions host security session signature hmac aes rsa"
        " root personal developer dev prod production live sandbox test jwt ingest ingestion"
        " write read webhook sdk project user server function decryption cipher wallet crypto"
        " openai anthropic stripe datadog github gitlab aws azure google algolia cohere mistral"
        " deepl twilio sendgrid mailgun mapbox weather openweather rapidapi newrelic clave-api"
    ).split()
)
"""What stands before "key" when the key opens something."""
_SAYS_OTHERWISE: Final = frozenset(
    (
        "public pub publishable next page previous continuation cursor sync primary foreign"
        " partition sort cache idempotency group range routing object row index map dict lookup"
        " composite natural unique host registry translation message hot short shortcut arrow enter"
        " escape return shift control ctrl alt tab function-key space turn piano config"
        " dress zip postal area country error status exit source promo promotion discount coupon"
        " voucher referral invite invitation tracking product bar qr morse genetic legacy"
        " boarding ski season bus train guest hall backstage mountain first second third"
        " max min num number total count prompt completion input output context stop eos bos pad"
        " special unk cls sep mask lang language locale currency iso response return hex color"
        " colour swift sort bic reason building-code byte op http https machine gpio header recv"
        " non no lost dial calling airport charge diagnosis cpt icd sic naics color-code tax fiscal"
    ).split()
)
"""What stands before a keyword that means something else then."""
_SOMETHING_ELSE: Final = frozenset(
    (
        "hash hashes hashed id ids url uri path file files filename name names length len min max"
        " policy policies field fields label hint placeholder type types count limit limits size"
        " expiry expires expiration ttl reset form input error errors regex pattern rule rules"
        " strength manager managers provider prefix header index encoder validator generator"
        " rotation version usage enabled required algorithm alg format endpoint env var arn ref"
        " alias description title template column columns page pages protected protection"
        " protect encryption recovery change changes changed update prompt attempts attempt"
        " retries history strategy scheme store storage vault table list lists link"
        " requirements requirement characters complexity hashing callback handler"
        " func function class request response ring rings chain word words board boards"
        " note notes press presses pair pairs stroke strokes frame frames point points board"
        " ization izer izers ized izing budget budgets window stream streams event ids"
        " visible confirm confirmation match matches mismatch verification verify verifier sharing"
        " refresh refreshing less free based only book review reviews coverage style editor owner owners"
        " block blocks snippet snippets freeze quality bucket buckets"
    ).split()
)
"""What stands behind a keyword that means something about the secret, or something else."""
_NEUTRAL: Final = re.compile(
    r"^(?:\d{1,3}|prod|production|dev|development|stage|staging|test|testing|live|old|new|main|"
    r"primary|secondary|base64|b64|v\d|default|value|val|plain|text|admin|root|user|local|str|s)$"
)
_SPLIT: Final = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")
_LONGEST: Final = 80


@lru_cache(maxsize=4096)
def sort_of(word: str) -> tuple[Sort, bool] | None:
    """Return what an identifier announces, or None; and whether it ends with that word.

    `DB_PASSWORD` and `dbPassword` announce a password, `password_hash` and `keyboard` nothing.
    """
    if len(word) > _LONGEST:
        word = word[-_LONGEST:]
    parts = [one.lower() for one in _SPLIT.findall(word)]
    behind = 0
    while parts and _NEUTRAL.match(parts[-1]) and len(parts) > 1:
        parts.pop()
        behind += 1
    for place in range(len(parts) - 1, -1, -1):
        sort = _sort(parts[place], parts[place - 1] if place else "")
        if sort is None:
            if parts[place] in _SOMETHING_ELSE:
                return None
            continue
        before = parts[place - 1] if place else ""
        if before in _SAYS_OTHERWISE:
            return None
        if sort is Sort.CODE and before in _PINS:
            sort = Sort.PIN
        return sort, place == len(parts) - 1
    return None


def says_otherwise(word: str) -> bool:
    """Say whether a word before a keyword gives it another meaning: "public", "promo"."""
    return word in _SAYS_OTHERWISE


def something_else(word: str) -> bool:
    """Say whether a word behind a keyword shows that no secret follows: "manager", "hash"."""
    return word in _SOMETHING_ELSE


def opens(word: str) -> bool:
    """Say whether a word before "key" shows that the key opens something: "API", "access"."""
    return word in _KEYED


def _sort(part: str, before: str) -> Sort | None:
    if part in _KEYS:
        if before in _NETWORKS:
            return Sort.PASSWORD
        return Sort.TOKEN if before in _KEYED else Sort.KEY
    for words, sort in _SORTS:
        if part in words:
            return sort
    if part.startswith(_PASSWORD_STARTS):
        return Sort.PASSWORD
    for sort, endings in _ENDINGS:
        if part.endswith(endings):
            return sort
    return None


_SORTS: Final = (
    (_PASSWORDS, Sort.PASSWORD),
    (_SECRETS, Sort.SECRET),
    (_TOKENS, Sort.TOKEN),
    (_PINS, Sort.PIN),
    (_CODES, Sort.CODE),
    (_CARDS, Sort.CARD),
    (_LOGINS, Sort.LOGIN),
    (_SEEDS, Sort.SEED),
    (_OPENERS, Sort.OPENER),
)

IS: Final = frozenset(
    (
        "is are was s be lautet ist war heißt heisst est était es era sera è é e' jest to brzmi"
        " это есть является luidt är er je este είναι là adalah olan = - : are:"
        " c'est it's that's és هي هو היא הוא है là είναι este er är är: être sei sia seja będzie będzie: to: was: is: ist: est: es: è: é: jest: это: zijn"
    ).split()
)
"""What joins a word for a secret and the secret; signs too."""
TURNS: Final = frozenset("to auf in a en na para per til till på naar zu с на with".split())
"""What joins a word for a secret and the new secret in a sentence about a change."""
CHANGES: Final = tuple(
    "chang geänd änder cambi troq alter zmien zmieni wijzig gewijzig veränd modif actualiz mudei"
    " diventa updat set reset сменил поменял изменил ändra endret ændr".split()
)
"""What sentences about a change have in them."""
FILLERS: Final = frozenset(
    (
        "now currently still set to just simply actually called the this: following: jetzt"
        " aktuell nun immer noch einfach maintenant toujours ahora todavía simplemente adesso ora"
        " agora nu obecnie teraz сейчас теперь always either again übrigens probably diventata diventato geworden devenu maybe likely literally"
        " changed reset updated as new une un una um een"
    ).split()
)
PLACES: Final = frozenset(
    (
        "door doors gate alarm garage house home building entry entrance lock locker padlock safe"
        " vault shed lobby elevator lift access security unlock phone tablet laptop keypad fence"
        " barn apartment office lockbox keybox burglar intercom voicemail suitcase luggage bike"
        " tür haustür garage alarm alarmanlage tor safe tresor schloss fahrradschloss büro keller"
        " gartentor haus handy telefon porte porte: portail alarme coffre coffre-fort immeuble"
        " cadenas garage digicode entrée puerta portal alarma caja caja-fuerte garaje edificio"
        " candado casa porta cancello allarme cassaforte garage portone lucchetto portão alarme"
        " cofre prédio garagem cadeado deur poort alarm kluis garage kelder fietsslot gebouw slot"
        " drzwi bramy brama alarmu sejfu sejf garażu klatki domofonu furtki двери дверь домофона"
        " сейфа ворот гаража сигнализации подъезда замка verification backup recovery 2fa"
        " sicherheitscode airbnb cabin storage chest toolbox cabinet server-room"
    ).split()
)
"""What is opened with a code."""
COMMON: Final = frozenset(
    (
        "wrong right correct incorrect weak strong safe secure insecure mandatory required optional"
        " hidden visible encrypted hashed salted stored saved expired invalid valid unknown known"
        " missing empty blank shared unique public private long short easy hard simple complex"
        " important necessary needed case-sensitive different similar identical same another"
        " random generated forgotten lost stolen leaked compromised reset changed updated rotated"
        " protected managed required there here below above inside outside somewhere nowhere"
        " ready fine okay good bad great terrible awful better worse enough sufficient sensitive"
        " confidential secret classified available unavailable temporary permanent default"
        " deprecated supported unsupported accepted rejected asked entered typed sent mailed"
        " emailed shown displayed printed logged masked cached checked verified validated"
        " mine yours theirs his hers ours nothing something anything everything none always"
        " never still already again today tomorrow yesterday really very quite pretty rather too"
        " also only just about between within because where which what when that this these"
        " those correct. usually typically generally often sometimes probably likely unlikely"
        " pending waiting working broken guessable memorable predictable reused recycled"
        " obsolete outdated overdue alphanumeric numeric plaintext cleartext online offline"
        " hanging taped written stuck under behind needed. disabled enabled locked blocked with"
        " from your their being been going getting coming using made kept held given taken"
    ).split()
)
"""What a sentence may say about a password."""
