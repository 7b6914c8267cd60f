"""Function words of languages: they show the language of a text, and a query is asked without them.

The lists are pronouns, articles, prepositions, conjunctions, auxiliary verbs and question words.
"""

from __future__ import annotations

from typing import Final

from memoryware._unicode import fold

_LATIN: Final = {
    "de": """
der die das dem den des ein eine einer eines einem einen kein keine keinen keiner keinem
und oder aber denn sondern als wenn weil dass daß ob damit obwohl während bevor nachdem bis
ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen sich man
mein meine meinen meiner meinem meines dein deine deinen deiner deinem sein seine seinen seiner
seinem ihre ihren ihrer ihrem unser unsere unseren unserer unserem euer eure
dieser diese dieses diesem diesen jener jene jenes jeder jede jedes jedem jeden
wer was wem wen wessen wo wann warum wieso weshalb wie woher wohin womit wofür worüber wovon
welche welcher welches welchem welchen wieviel
ist sind war waren bin bist seid gewesen sei wäre hat habe haben hast hatte hatten hättest hätte
wird werden werde wirst wurde wurden worden würde kann kannst können konnte könnte muss musst
müssen musste soll sollen sollte will willst wollen wollte darf dürfen mag möchte
nicht auch nur noch schon sehr so mehr da dort hier jetzt dann doch mal eigentlich denn ja nein
in im an am auf aus bei beim mit nach von vom vor zu zum zur für um über unter durch gegen ohne
seit zwischen hinter neben ins ans
gibt gab etwas alles viel viele
""",
    "fr": """
le la les l un une des du de d au aux et ou mais donc car ni que qu qui quoi dont où
je j tu il elle on nous vous ils elles me m te t se s lui leur leurs y en moi toi eux
mon ma mes ton ta tes son sa ses notre nos votre vos ce cet cette ces c ça cela
quel quelle quels quelles quand comment pourquoi combien lequel laquelle
est sont suis es sommes êtes était étaient étais été être ai as a avons avez ont avait avaient eu
avoir sera serait fait faire fut peut peux
ne n pas plus rien jamais aussi très bien encore déjà toujours
à dans par pour sur sous avec sans chez entre vers depuis pendant avant après comme si lors
puis alors ici là tout tous toute toutes même quelque quelques
""",
    "es": """
el la los las lo un una unos unas al del de y e o u pero sino porque pues que si cuando aunque
yo tú él ella ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les mí ti
mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro vuestra
este esta esto estos estas ese esa eso esos esas aquel aquella
qué quién quiénes cuál cuáles cuándo dónde cómo cuánto cuánta cuántos cuántas
es son soy eres somos era eran fue fueron ser sido está están estoy estaba estar
he has ha hemos han había haber hay tiene tienen tengo tener hace
no ni sí también muy más menos ya todavía siempre nunca así
a ante bajo con contra desde durante en entre hacia hasta para por según sin sobre tras
como donde quien cual todo toda todos todas algo algún alguna otro otra solo
cada entonces ahora antes después nada nadie
""",
    "it": """
il lo la i gli le l un uno una di del dello della dei degli delle a al allo alla ai agli alle
da dal dalla dai dalle in nel nello nella nei nelle con col su sul sulla sui sulle per tra fra
e ed o ma però perché se che chi cui quando mentre anche come dove
io tu lui lei noi voi loro mi ti si ci vi ne me te sé
mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri vostro vostra
questo questa questi queste quello quella quelli quelle
cosa quale quali quanto quanta quanti quante
è sono sei siamo siete era erano stato stata essere ho hai ha abbiamo avete hanno aveva avere
sarà fa fatto può
non più molto già ancora sempre mai solo così tutto tutti tutta tutte qualche ogni
c dell all dall nell sull quell dov com cos
""",
    "pt": """
o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela pelos pelas
para com sem sob sobre entre até desde após contra
e ou mas porque pois que se quando embora como onde
eu tu ele ela nós vós eles elas você vocês me te se lhe lhes nos mim ti
meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas
este esta isto estes estas esse essa isso esses essas aquele aquela aquilo
quem qual quais quanto quanta quantos quantas quê
é são sou és somos era eram foi foram ser sido está estão estou estava estar
tem têm tenho tinha ter há havia haver vai vou fez
não nem sim também muito mais menos já ainda sempre nunca só assim
todo toda todos todas algum alguma outro outra
""",
    "nl": """
de het een en of maar want dus als dat die dit deze omdat hoewel terwijl toen
ik jij je u hij zij ze wij we jullie mij me jou hem haar ons hun hen zich
mijn jouw zijn uw onze
wie wat waar wanneer waarom hoe welk welke hoeveel waarin waarmee
is ben bent was waren wordt worden werd werden geweest heb hebt heeft hebben had hadden
kan kunt kunnen kon moet moeten mag wil willen zal zullen zou zouden gaat
niet geen ook nog al zeer erg heel meer dan daar hier er nu wel toch
in op aan bij met naar van voor uit om over onder door tegen zonder sinds tussen tot te
iets alles veel
""",
    "sv": """
en ett den det de och eller men för att som om när medan därför eftersom
jag du han hon vi ni mig dig honom henne oss er dem sig man
min mitt mina din ditt dina sin sitt sina hans hennes vår vårt våra deras
denna detta dessa
vem vad var när varför hur vilken vilket vilka vart
är var vara varit blir blev bli har hade ha kan kunde ska skall skulle vill ville måste får fick
inte också bara mycket mer här där nu då än ju nog
i på av till från med utan under över efter före hos mellan genom mot vid åt
något några alla allt
""",
    "da": """
en et den det de og eller men for at som om når mens fordi da
jeg du han hun vi i mig dig ham hende os jer dem sig man
min mit mine din dit dine sin sit sine hans hendes vores deres
denne dette disse
hvem hvad hvor hvornår hvorfor hvordan hvilken hvilket hvilke
er var være været bliver blev blive har havde have kan kunne skal skulle vil ville må måtte fik
ikke også kun meget mere her der nu da jo nok
på af til fra med uden under over efter før hos mellem gennem mod ved ud op ad
noget nogen nogle alle alt
""",
    "no": """
en ei et den det de og eller men for at som om når mens fordi da
jeg du han hun vi dere meg deg ham henne oss dem seg man
min mitt mi mine din ditt di dine sin sitt si sine hans hennes vår vårt våre deres
denne dette disse
hvem hva hvor når hvorfor hvordan hvilken hvilket hvilke
er var være vært blir ble bli har hadde ha kan kunne skal skulle vil ville må måtte fikk
ikke også bare mye mer her der nå da jo nok
i på av til fra med uten under over etter før hos mellom gjennom mot ved ut opp
noe noen alle alt
""",
    "fi": """
ja tai mutta että jos kun koska vaikka kuin eli sekä
minä sinä hän me te he se ne minun sinun hänen meidän teidän heidän sen niiden
minua minulla minulle minut sinulla hänellä meillä
tämä tuo nämä tätä tässä siinä sitä siitä
kuka mikä mitä missä milloin miksi miten mihin mistä kuinka millainen kenen minkä
on ovat olen olet olemme oli olivat ollut olla ei en et eivät ole
voi voin täytyy pitää
myös vain hyvin jo vielä nyt sitten niin aina
kanssa ennen jälkeen ilman
""",
    "tr": """
ve veya ya ama fakat çünkü eğer ki ile de da
ben sen o biz siz onlar beni seni onu bizi sizi bana sana ona bize size benim senin onun bizim
sizin onların bende sende
bu şu bunu şunu bunun bunlar şunlar
kim ne nerede nereye nereden zaman niçin neden nasıl hangi kaç kimin neyi
mi mı mu mü misin musun
var yok değil idi oldu olan olarak olur ise
bir çok daha en her gibi kadar için sonra önce göre şimdi hep bile
""",
}
_NON_LATIN: Final = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне
было вот от меня еще ещё нет о об из ему теперь когда даже ну ли если уже или ни быть был него до
вас нибудь уж вам ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их
чем была сам чтоб чтобы без будто чего раз тоже себе под будет ж тогда кто этот эта это эти того
потому этого какой какая какое какие каком какого какую ним здесь этом один почти мой моя моё мое
мои моего моей моему моим моих мою твой твоя твои наш наша наше наши нашего нашей ваш ваша тем
нее сейчас были куда зачем почему сколько кого кому кем чей чья всех никогда при об про через
над ними нас нам них которая который которые которое это том той тот та те я
і й в у не що він на я з як а то та вона так його але ти до же ви за по тільки її мені було від
мене ще ні коли навіть якщо вже або бути був там де є для ми тебе їх чому хто це цей ця мій моя
في من على الى إلى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين كيف لماذا كم هل أي أية
هو هي هم نحن أنا أنت أن إن كان كانت يكون لا لم لن ليس قد كل بعض و أو ثم لكن حتى عند بعد قبل بين
منذ حول دون غير أيضا لي لك له لها لنا لهم بي به بها بنا فيه فيها منه منها عليه عليها إذا لو كما
الى ذا مما فقط هناك هنا ومن وما وهو وهي وفي وعلى
از به در که را با این آن برای تا هر یا و هم چه چی کی کجا چرا چطور چگونه کدام چند است هست بود
شد می من تو او ما شما آنها ام ای اند نه اگر اما ولی بر
και ή αλλά ο η το οι τα του της των τον την τους τις ένα μια ένας να θα δεν μην που πως ότι αν όταν
εγώ εσύ αυτός αυτή αυτό εμείς εσείς μου σου μας σας τι ποιος ποια ποιο πού πότε γιατί είναι είμαι
ήταν έχω έχει σε στο στη στην στον στα από με για και
"""
"""Russian, Ukrainian, Arabic, Persian and Greek."""
_HAN: Final = """
的了吗呢吧啊是在和我你您他她它们这那哪什么谁怎有与跟也都就很还个几多少为时候不一上下里到过会能要想把被从
对给让说嗎們這麼誰個幾為與還從給讓說對會時後后
"""
"""Characters of Chinese grammar; a word of nothing else says little."""
_HIRAGANA: Final = """
です でした ます ました ません という といった について どこ どの どれ どちら
どなた なに なん いつ だれ どう どんな いくら いくつ だっけ ですか ますか
ましたか でしょうか くれる くれた もらう もらった して している していた しました
された されて こと もの とき ところ から まで より ので のに けど けれど など
なら ある あった あります いる いた います いました なる なった なりました
できる その この あの これ それ あれ ここ そこ する した だった である
ではない じゃない ない なかった ほど だけ しか ばかり ても では とは には
"""
"""Grammar of Japanese, which is written in Hiragana."""
_ALSO_ENGLISH: Final = """
a ad ate car all alt am an ante as at bare be bent bile bin but by ca can col com come comment den
der des die dig dine dir do dont door dove ed em er era et eu fan far fez fin for fur gore ha had
hade ham has hat have hay he heel hem her here him his hun i if in is it jag ki l d m s t c j n ll
ma mad man mar me men met mid min mine mod more mot my na need nell no non nor not nun nyt o of on
once one op or os out over pa par pas per plus pour pro re sans se sea sent sin sine sir sit size
so sob sole some son sub sue sum tag tan ten the them then there this till to todo ton tot u under
up us vain van var vat ve via vide want war was we were who will you
"""
"""Words that English texts have too, which are no sign of another language without others."""
_IN_NAMES: Final = """
ai al au bis bu ces che con da das de del dem di du e el eli en es est etta hans hen i il io ist ja
jo kim la las le les lo los lui mag mai mes mi mia mig mel mina mi nei ne ni nos ole oss sa san sei
sen sera ser si solo sua ta tal te tra tu tua ua um un una vi voi von vos y ya zu ben ella
"""
"""Words of names in English texts ("Rio de Janeiro"), of which one alone is no sign."""
_ENGLISH: Final = """
the and to that with this you it my what when where which how who does did from our your they she
would should been because about there their
"""

STOP_WORDS_BY_LANGUAGE: Final = {
    language: frozenset(fold(words).casefold().split()) for language, words in _LATIN.items()
}
"""Function words of languages in Latin letters, folded as index terms are."""
STOP_WORDS_OF_SCRIPTS: Final = frozenset(fold(_NON_LATIN).casefold().split())
"""Function words in other letters, which no Latin word equals."""
ENGLISH_MARKERS: Final = frozenset(_ENGLISH.split())
"""Words that show English."""


def _markers() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in STOP_WORDS_BY_LANGUAGE.items():
        for word in words:
            languages[word] = (*languages.get(word, ()), language)
    return languages


LANGUAGES_OF: Final = _markers()
"""For a function word the languages that have it."""
MARKERS: Final = frozenset(LANGUAGES_OF) - frozenset(_ALSO_ENGLISH.split()) - ENGLISH_MARKERS
"""Function words that few English texts have."""
STRONG_MARKERS: Final = MARKERS - frozenset(_IN_NAMES.split())
"""Those that are not even parts of names."""

GRAMMAR_CHARACTERS: Final = frozenset("".join(_HAN.split()))
"""Characters of Chinese grammar."""
GRAMMAR_PAIRS: Final = frozenset(
    phrase[start : start + 2] for phrase in _HIRAGANA.split() for start in range(len(phrase) - 1)
)
"""Bigrams of Japanese grammar."""
