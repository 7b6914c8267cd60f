"""Words of other languages than English: a question finds the text that says the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryware._unicode import fold
from memoryware.tiers.text.languages import (
    Language,
    compound_heads,
    language_of,
    stem_by_script,
    stem_in,
)
from memoryware.tiers.text.terms import core_words, plain_words, query_words, words_of


def language(text: str) -> str | None:
    known = language_of(text, plain_words(text))
    return known.code if known else None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Wo wohnt Mila?"),
        ("de", "Der Zug ist nicht gekommen, weil es schneit."),
        ("es", "¿Dónde está la llave?"),
        ("es", "La clave de la oficina es 5501"),
        ("fr", "Mon frère habite à Lyon avec ses enfants."),
        ("it", "Mia sorella non mangia il pesce."),
        ("pt", "O meu irmão mora em Lisboa e não come carne."),
        ("nl", "Mijn zus woont niet in Utrecht."),
        ("sv", "Jag tycker inte om kaffe."),
        ("da", "Hvornår kommer du hjem, og hvad skal vi lave?"),
        ("no", "Hva heter søsteren din?"),
        ("fi", "Missä minun avaimet ovat?"),
        ("tr", "Kardeşim çok çay içiyor ama kahve için zaman yok."),
        ("vi", "Tôi thích uống cà phê buổi sáng."),
    ],
)
def test_a_short_text_shows_its_language(code, text):
    assert language(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Database migration postponed",
        "Who is Zoë, and where does she live?",
        "We flew to Rio de Janeiro and La Paz.",
        "Müller & Söhne",
        "Don't die in the war, man; I've a son and he has an art bent.",
        "The word is 'und', as they say.",
        "İzmir, Kraków, Málaga",
        "my mi band",
        "TODO: the size of door A",
        "这个数据库",
        "Где он?",
    ],
)
def test_english_texts_and_names_show_no_other_language(text):
    assert language(text) is None


@given(st.text(max_size=60))
def test_any_text_has_a_language_or_none(text):
    assert language(text) in {
        None,
        *["de", "es", "fr", "it", "pt", "nl", "sv", "da", "no", "fi", "tr", "vi"],
    }


FAMILIES = {
    "de": "Haus Häuser Hauses|Nuss Nüsse Nüssen|Straße Strassen|arbeiten arbeitet Arbeit",
    "es": "canción canciones cancion|llamar llamó llamo llaman|niño niños ninas",
    "fr": "manger mange mangé|activité activites|cheval chevaux|école ecoles",
    "it": "città citta|abitare abita abitavano|gatto gatti",
    "pt": "informação informações informacoes|médico medicas|trabalhar trabalha trabalhou",
    "nl": "huis huizen|afspraak afspraken",
    "sv": "bil bilar bilen bilarna|lägenhet lagenheter",
    "da": "bil biler bilerne|lejlighed lejligheden",
    "no": "bil bilene|leilighet leiligheten",
    "fi": "talo talon talossa talot|lääkäri laakarin",
    "tr": "kitap kitaplar kitabı kitaplari|köpek köpeği kopekler|kız kızım kizlar|ev evde evden",
}


@pytest.mark.parametrize("code", FAMILIES)
def test_forms_of_a_word_are_one_with_and_without_accents(code):
    for family in FAMILIES[code].split("|"):
        assert len({stem_in(code, fold(word).casefold()) for word in family.split()}) == 1, family


@pytest.mark.parametrize(
    "family",
    [
        "орехи орехов ореха",
        "Мила Миле Милы",
        "ребёнок ребенок",
        "синий синего синяя",
        "мой мои",
        "كتاب الكتاب والكتاب كتابي",
        "مدرسة المدرسة للمدرسة",
        "أحمد احمد",
        "کتاب‌ها کتاب كتابي",
        "βιβλία βιβλίων",
    ],
)
def test_forms_of_a_word_in_other_letters_are_one_in_any_text(family):
    stems = {stem_by_script(word) for word in plain_words(family)}
    assert len(stems) == 1
    assert stems == set(core_words(family))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Welche Häuser hat er?", "Das Haus ist alt."),
        ("Wo ist mein Zahnarzttermin?", "Zahnarzttermine!"),
        ("Zahnarzttermine", "Das sind die Zahnarzttermine."),
        ("Wem gehört das Haus?", "Unser Steinhaus ist von 1910."),
        ("¿Qué canciones canta?", "La canción es de mi madre."),
        ("donde vive Tomas", "Tomas vive en Lyon con su hermana."),
        ("Where does Tomas live?", "Tomas trabaja de conductor en Lyon y no le gusta."),
        ("¿Dónde trabaja ahora mi amigo Tomas?", "Tomas works in Lyon."),
        ("Wo arbeitet denn jetzt unser Jonas?", "Jonas works in Lyon."),
        ("Quels sont mes livres ?", "J'ai perdu le livre de ma sœur."),
        ("Köpeğim nerede?", "Bir köpek çok havladı."),
        ("cà phê của tôi ở đâu", "Tôi uống cà phê."),
        ("ca phe", "Tôi uống cà phê."),
        ("Какие орехи?", "От орехов у неё сыпь."),
        ("في بيتنا", "اشترينا لبيتنا بابا"),
        ("猫", "三花猫很可爱"),
        ("猫叫什么名字", "三花猫的名字是小白"),
    ],
)
def test_a_question_finds_the_text_whatever_language_each_seems_to_have(question, text):
    assert set(query_words(question)) & set(words_of(text))


THAI = {
    "แมวของฉันชื่ออะไร": "ฉันเลี้ยงแมวสองตัว แมวชื่อมะลิ",
    "นัดหมอฟันเมื่อไหร่": "หมอฟันนัดฉันวันพฤหัสบดี",
    "พี่สาวทำงานที่ไหน": "พี่สาวของฉันทำงานที่โรงพยาบาลในเชียงใหม่",
    "กาแฟแบบไหนที่ฉันชอบ": "ฉันชอบดื่มกาแฟดำไม่ใส่น้ำตาล",
    "รหัสประตูคืออะไร": "ประตูหลังบ้านใช้รหัสห้าหลัก",
}


@pytest.mark.parametrize("question", THAI)
def test_a_thai_question_shares_most_with_its_sentence(question):
    """Thai has no blanks between words; pairs of characters find a sentence all the same."""
    asked = set(query_words(question))
    shared = {text: len(asked & set(words_of(text))) for text in THAI.values()}
    assert max(shared, key=shared.__getitem__) == THAI[question]


def test_a_question_is_asked_without_the_function_words_of_its_language():
    assert query_words("Wann ist mein Zahnarzttermin?") == ["zahnarzttermin"]
    assert query_words("¿Cuándo es mi cita?") == ["cit"]
    assert query_words("Когда мои орехи?") == ["орех"]
    assert query_words("妻は何の仕事をしていますか") == [
        "妻は",
        "は何",
        "何の",
        "の仕",
        "仕事",
        "事を",
        "をし",
        *"妻何仕事",
    ]
    assert query_words("Was ist das?")


def test_a_text_that_says_the_same_has_every_word_of_a_query():
    for text in (
        "Wo ist das Haus von Herrn Meyer-Landrut?",
        "¿Qué dijo Pablo sobre la informacion?",
        "Mein E-Mail-Konto und check-ups",
        "我的牙医预约是什么时候？",
        "Tôi thích cà phê Đà Nẵng, max_tokens deployments",
    ):
        assert set(query_words(text)) <= set(words_of(text))
        assert set(core_words(text)) <= set(words_of(text))


@given(
    st.lists(
        st.sampled_from(
            ["Haus", "Häuser", "der", "nicht", "que", "señor", "the", "猫犬", "e-mail", "Тома"]
        )
    )
)
def test_the_words_of_a_list_are_in_each_text_that_has_them(words):
    text = f"¿Es esta la casa? {' '.join(words)} und nicht mehr."
    assert set(core_words(" ".join(words))) <= set(words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "Which database do we use for the orders?",
        "Rio was sunny; my son's name is Jonas.",
        "Deployments decided by Ann run on Kubernetes, max_tokens=10,000.",
    ],
)
def test_an_english_text_has_the_words_it_always_had(text):
    assert words_of(text) == core_words(text)


@pytest.mark.parametrize(
    ("noun", "head"),
    [
        ("Steinhaus", "haus"),
        ("Gartenzaun", "zaun"),
        ("Wohnungsschlüssel", "schlussel"),
        ("Versicherungsvertrag", "vertrag"),
        ("Telefonnummer", "nummer"),
        ("Arbeitsplatz", "platz"),
    ],
)
def test_the_head_of_a_german_compound_is_found(noun, head):
    assert head in compound_heads(fold(noun))


@pytest.mark.parametrize("word", ["Entscheidung", "Wohnungen", "verkaufen", "Freundschaft", "NASA"])
def test_a_word_with_an_ending_is_no_compound(word):
    assert [*compound_heads(fold(word))] == []


def test_names_are_stemmed_where_a_language_inflects_them():
    assert Language("tr", is_sure=True).inflects_names
    assert not Language("es", is_sure=True).inflects_names


def test_threads_stem_at_the_same_time():
    words = [word for word in FAMILIES["es"].replace("|", " ").split() for _ in range(50)]
    alone = [stem_in("es", word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(lambda word: stem_in("es", word), words)] == alone
