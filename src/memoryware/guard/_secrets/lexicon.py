"""Words in many languages by which secrets are told; data only.

Words are in lower case and parted by blanks.
"""

from __future__ import annotations

from typing import Final


def listed(words: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(words.split())


STEMS: Final = listed("""
    pass pwd pw psk secret token key cred auth jwt pin code kod combination combo login puk cvv
    cvc mdp contrase clave senha kennw geheim wachtw haslo hesl parol salasan sifre sandi jelsz
    codi losen gesl lozin slapta parool sleutel chiave chave klucz adgang zugang seed mnemonic
    recovery wallet lock disarm keypad opens entsperr verrouill desbloq sblocc
""")
"""What words for secrets have in them, in ASCII and lower case."""
BEGINNINGS: Final = frozenset(
    listed("""
        pw psk cred auth jwt pin combination combo puk cvv cvc mdp clave codi hesl gesl seed losen
        parol chave recovery
    """)
)
"""Stems that no letter stands before: not the `pin` in `typing`."""
OTHER_STEMS: Final = listed("""
    código hasł haseł şifre lösen schlüssel clé парол пин код ключ секрет токен κωδικ συνθηματ
    المرور السر باسورد סיסמ khẩu
""")
"""Stems in letters beyond ASCII."""
PASSWORDS: Final = frozenset(
    listed("""
        password passwords passwd passphrase passcode passwort passwörter kennwort pwd pw pass
        contraseña contrasena clave senha passe mdp wachtwoord hasło haslo hasła hasłem heslo
        parola passord lösenord losenord adgangskode kodeord salasana sandi parool الباسورد باسورد
        รหัสผ่าน المرور السر khẩu salasanani psk requirepass masterauth passparole wachtwoorden
        userpass dbpass pgpassword psw rootpw bindpw adminpw userpw dbpw
    """)
)
"""Words for a password."""
PASSWORD_STARTS: Final = listed("""
    парол hasł haseł contrase wachtwoord passwort salasan lösenord losenord passord adgangskod
    kodeord heslo hesla jelsz şifre sifre κωδικ συνθηματ סיסמ lozink gesl slaptažod parola parolă
    parolam parolas
""")
"""Beginnings of words for a password that take endings."""
PINS: Final = frozenset(
    listed("""
        pin pincode pins geheimzahl pinnummer пин пинкод pukcode puk
    """)
)
"""Words for a number that is typed in."""
CODES: Final = frozenset(
    listed("""
        code combination combo código codigo codice kod код кода zugangscode türcode toegangscode
        zugangscodes codes code's passcodes adgangskode kode kodu türkode keycode
    """)
)
"""Words for a code, which may as well be a zip code."""
CARD_CODES: Final = frozenset(
    listed("""
        cvv cvv2 cvc cvc2 cvn
    """)
)
"""Words for the code on the back of a card."""
SECRETS: Final = frozenset(
    listed("""
        secret secrets geheimnis секрет
    """)
)
"""Words for a secret as such."""
TOKENS: Final = frozenset(
    listed("""
        token tokens apikey apikeys accesskey secretkey authkey privatekey accountkey authtoken
        accesstoken bearer jwt pat токен токена apitoken
    """)
)
"""Words for a token or for a key that opens something."""
KEYS: Final = frozenset(
    listed("""
        auth key keys schlüssel clé chiave sleutel klucz ключ ключа
    """)
)
"""Words for a key, which may as well be a primary key."""
LOGINS: Final = frozenset(
    listed("""
        login logins log-in credentials credential creds cred zugangsdaten identifiants
    """)
)
"""Words for a name and a password together."""
SEEDS: Final = frozenset(
    listed("""
        seed mnemonic recovery mnemonics wallet
    """)
)
"""Words for the words that restore a wallet."""
NETWORKS: Final = frozenset(
    listed("""
        wifi wlan wpa wpa2 network netzwerk router ssid
    """)
)
"""What stands before "key" when it is the password of a network."""
OPENERS: Final = frozenset(
    listed("""
        lock unlock unlocks unlocking disarm disarms disarming keypad opens entsperren entsperrt
        déverrouiller déverrouille desbloquear sblocca desbloqueia
    """)
)
"""Words for opening something with a code."""
KEYED: Final = frozenset(
    listed("""
        api access secret private auth authentication encryption signing master account service
        client app application license licence shared deploy storage admin ssh connection
        subscription functions host security session signature hmac aes rsa root personal
        developer dev prod production live sandbox test jwt ingest ingestion write read webhook
        sdk project user server function decryption cipher wallet crypto openai anthropic stripe
        datadog github gitlab aws azure google algolia cohere mistral deepl twilio sendgrid
        mailgun mapbox weather openweather rapidapi newrelic clave-api
    """)
)
"""What stands before "key" when the key opens something."""
SAYS_OTHERWISE: Final = frozenset(
    listed("""
        public pub publishable next page previous continuation cursor sync primary foreign
        partition sort cache idempotency group range routing object row index map dict lookup
        composite natural unique host registry translation message hot short shortcut arrow enter
        escape return shift control ctrl alt tab function-key space turn piano config dress zip
        postal area country error status exit source promo promotion discount coupon voucher
        referral invite invitation tracking product bar qr morse genetic legacy boarding ski
        season bus train guest hall backstage mountain first second third max min num number total
        count prompt completion input output context stop eos bos pad special unk cls sep mask
        lang language locale currency iso response hex color colour swift bic reason building-code
        byte op http https machine gpio header recv non no lost dial calling airport charge
        diagnosis cpt icd sic naics color-code tax fiscal
    """)
)
"""What stands before a word for a secret that then means something else."""
SOMETHING_ELSE: Final = frozenset(
    listed("""
        hash hashes hashed id ids url uri path file files filename name names length len min max
        policy policies field fields label hint placeholder type types count limit limits size
        expiry expires expiration ttl reset form input error errors regex pattern rule rules
        strength manager managers provider prefix header index encoder validator generator
        rotation version usage enabled required algorithm alg format endpoint env var arn ref
        alias description title template column columns page pages protected protection protect
        encryption recovery change changes changed update prompt attempts attempt retries history
        strategy scheme store storage vault table list lists link requirements requirement
        characters complexity hashing callback handler func function class request response ring
        rings chain word words board boards note notes press presses pair pairs stroke strokes
        frame frames point points ization izer izers ized izing budget budgets window stream
        streams event visible confirm confirmation match matches mismatch verification verify
        verifier sharing refresh refreshing less free based only book review reviews coverage
        style editor owner owners block blocks snippet snippets freeze quality bucket buckets
    """)
)
"""What stands behind it when the text is about the secret, or about something else."""
IS: Final = frozenset(
    listed("""
        is are was s be lautet ist war heißt heisst est était es era sera è é e' jest to brzmi это
        есть является luidt är er je este είναι là adalah olan = - : are: c'est it's that's és هي
        هو היא הוא है är: être sei sia seja będzie będzie: to: was: is: ist: est: es: è: é: jest:
        это: zijn wordt luidt: lautet: wird
    """)
)
"""What joins a word for a secret and the secret; signs too."""
TURNS: Final = frozenset(
    listed("""
        to auf in a en na para per til till på naar zu с на with
    """)
)
"""What joins them in a sentence about a change."""
CHANGES: Final = listed("""
    chang geänd änder cambi troq alter zmien zmieni wijzig gewijzig veränd modif actualiz mudei
    diventa updat set reset сменил поменял изменил ändra endret ændr
""")
"""Beginnings of words that tell of a change."""
FILLERS: Final = frozenset(
    listed("""
        now currently still set to just simply actually called the this: following: jetzt aktuell
        nun immer noch einfach maintenant toujours ahora todavía simplemente adesso ora agora nu
        obecnie teraz сейчас теперь always either again übrigens probably diventata diventato
        geworden devenu maybe likely literally changed reset updated as new une un una um een
    """)
)
"""What may stand between "is" and the secret."""
PLACES: Final = frozenset(
    listed("""
        door doors gate alarm garage house home building entry entrance lock locker padlock safe
        vault shed lobby elevator lift access security unlock phone tablet laptop keypad fence
        barn apartment office lockbox keybox burglar intercom voicemail suitcase luggage bike tür
        haustür alarmanlage tor tresor schloss fahrradschloss büro keller gartentor haus handy
        telefon porte portail alarme coffre coffre-fort immeuble cadenas digicode entrée puerta
        portal alarma caja caja-fuerte garaje edificio candado casa porta cancello allarme
        cassaforte portone lucchetto portão cofre prédio garagem cadeado deur poort kluis kelder
        fietsslot gebouw slot drzwi bramy brama alarmu sejfu sejf garażu klatki domofonu furtki
        двери дверь домофона сейфа ворот гаража сигнализации подъезда замка verification backup
        recovery 2fa sicherheitscode airbnb cabin storage chest toolbox cabinet server-room
    """)
)
"""What is opened with a code."""
COMMON: Final = frozenset(
    listed("""
        wrong right correct incorrect weak strong safe secure insecure mandatory required optional
        hidden visible encrypted hashed salted stored saved expired invalid valid unknown known
        missing empty blank shared unique public private long short easy hard simple complex
        important necessary needed case-sensitive different similar identical same another random
        generated forgotten lost stolen leaked compromised reset changed updated rotated protected
        managed there here below above inside outside somewhere nowhere ready fine okay good bad
        great terrible awful better worse enough sufficient sensitive confidential secret
        classified available unavailable temporary permanent default deprecated supported
        unsupported accepted rejected asked entered typed sent mailed emailed shown displayed
        printed logged masked cached checked verified validated mine yours theirs his hers ours
        nothing something anything everything none always never still already again today tomorrow
        yesterday really very quite pretty rather too also only just about between within because
        where which what when that this these those usually typically generally often sometimes
        probably likely unlikely pending waiting working broken guessable memorable predictable
        reused recycled obsolete outdated overdue alphanumeric numeric plaintext cleartext online
        offline hanging taped written stuck under behind disabled enabled locked blocked with from
        your their being been going getting coming using made kept held given taken
    """)
)
"""What a sentence may say about a password."""
JOINING: Final = frozenset(
    listed("""
        the and for are was has had but not his her our its from have been were into does did get
        got him she who how why than them those these would could also just because
    """)
)
"""Words that join sentences and are never in a seed phrase."""
SMALL_WORDS: Final = JOINING | frozenset(
    listed("""
        that with use used one you your not may
        het een van voor niet nog steeds met dat wat zijn wordt werd heeft naar ook maar door bij
        der die das ein eine und oder nicht noch immer mit von bei auch wird wurde hat sind zum zur
        les des une pour avec pas est sur dans par mais qui que plus sont trop encore toujours
        los las una con por para pero muy está más como todo esta non per che gli della sono molto
        não uma com mas muito ainda jest nie się już ale
    """)
)
"""The same in many languages; no word of a passphrase."""
COMPOUNDED: Final = frozenset(
    listed("""
        all any both each few many more most much less least once twice one two three four five six
        seven eight nine ten half zero non pre post semi sub self auto anti multi cross well ill
        way off out over via per then else plus minus time times day days week year last next
        first second third new old end start state step case lower upper mixed lowercase uppercase
        letter letters character characters char chars digit digits number numbers word words
        phrase symbol symbols size length long bit byte text string plain code human machine
        user users team group guest owner admin role person member client customer company
        read write execute access factor entropy knowledge proof policy rule rules level grade
        industry standard security knows come goes back down away let see ask tell say call
        look think know want need please set get put use keep make take give find try
        too also only ever never even still yet same own other another such own very must should
        could would will shall cannot some none nobody everyone everybody
        enter copy paste type click press select choose check choice update edit delete create
        default config configuration settings setting options option param params env environment
        prod production dev development staging live local internal external intern corp demo
        server service host database table column row model schema field fields form input output
        page view panel button label title name names message error warning info link file path
        folder class module function method value values key keys item items list data type types
        request response session cookie header body query event handler state store props args
        self this cls super app application system platform framework api web site login logout
        signin signup sign register reset forgot confirm change account accounts profile email mail
        auth oauth token secret password passwords credential vault wiki docs doc www com org net
        gov edu info biz co dot min max src lib bin etc usr var opt tmp home index html json yaml
        toml xml sql csv log tar zip util utils core common base main test tests config manager
        dependent independent specific agnostic friendly aware ready safe secure random
        mehr weniger sehr nur schon streng geheim gross groß klein nach vor
        pas tout tous bien mal trop
    """)
)
"""What compounds ("state-of-the-art"), names in code and addresses are made of."""
DESCRIBES: Final = listed("ed ing able ible ly ful less ous ive ory")
"""Endings of words that describe something."""
