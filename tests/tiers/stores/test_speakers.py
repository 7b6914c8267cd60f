"""Who said a text is one rule: of a record in Python, and of the columns of a SQL database."""

from __future__ import annotations

import random
import sqlite3
from contextlib import contextmanager

import psycopg
import pytest

from doors import everyday_and_slow
from memoryware import MemoryScope
from memoryware.stores import speaker_key
from memoryware.testing._store import memory
from memoryware.tiers.model import PromotionRecord
from memoryware.tiers.provenance import (
    UNKNOWN_SPEAKER,
    Origin,
    Provenance,
    Speaker,
    attribution_of,
    speaker_names,
)
from memoryware.tiers.stores.postgres import postgres_stores
from memoryware.tiers.stores.postgres._dialect import PostgresDialect
from memoryware.tiers.stores.sqlite import sqlite_stores
from memoryware.tiers.stores.sqlite._rows import SqliteDialect
from servers import postgres

HELPER = Speaker("agent", "helper")
NUL, HALF = "\0", "\ud800"

# The text, `speaker` of its metadata (None for none) and its origin; then the name with which it
# is indexed, the one that a query may mention, the key of its speaker, and who "I" is.
CASES = [
    ("tea", "Ann", "agent:helper", "Ann", "Ann", "Ann", Speaker("", "ann")),
    ("tea", " Ann\n", "agent:helper", "Ann", "Ann", "Ann", Speaker("", "ann")),
    ("tea", "x" * 101, "agent:a", "x" * 101, "x" * 100, "x" * 101, Speaker("", "x" * 101)),
    ("tea", '"ü" \\ 🜁', "agent:a", '"ü" \\ 🜁', '"ü" \\ 🜁', '"ü" \\ 🜁', Speaker("", '"ü" \\ 🜁')),
    ("tea", f"A{HALF}", "agent:a", f"A{HALF}", f"A{HALF}", f"A{HALF}", Speaker("", f"a{HALF}")),
    # What is no text, or blank, is no name.
    ("tea", "", "agent:helper", "", "helper", "agent:helper", HELPER),
    ("tea", " \t", "agent:helper", "", "helper", "agent:helper", HELPER),
    ("Bo: tea", "\u3000", "agent:helper", "", "helper", "Bo", HELPER),
    ("tea", ["Ann"], "agent:helper", "", "helper", "agent:helper", HELPER),
    ("tea", {"speaker": "Ann"}, "agent:helper", "", "helper", "agent:helper", HELPER),
    ("tea", 7, "agent:helper", "", "helper", "agent:helper", HELPER),
    # Origins.
    ("tea", None, "user: Ann ", "", " Ann ", "user: Ann ", Speaker("person", "ann")),
    ("tea", None, "person:Ann", "", "Ann", "person:Ann", Speaker("person", "ann")),
    ("tea", None, "user:", "", "", "user:", Speaker("person", "")),
    ("tea", None, 'user:"roots":\\', "", '"roots":\\', 'user:"roots":\\',
     Speaker("person", '"roots":\\')),
    ("tea", None, "tool:search", "", "", "tool:search", UNKNOWN_SPEAKER),
    ("tea", None, "import:b", "", "", None, UNKNOWN_SPEAKER),
    ("tea", None, "file:/a", "", "", None, UNKNOWN_SPEAKER),
    ("tea", "Ann", "file:/a", "Ann", "Ann", "Ann", Speaker("", "ann")),
    # Labels at the beginning of the text.
    ("Bo: tea", None, "agent:helper", "", "helper", "Bo", HELPER),
    ("Bo: tea", "Ann", "agent:helper", "Ann", "Ann", "Ann", Speaker("", "ann")),
    ("Bo: tea", None, "import:b", "", "", "Bo", UNKNOWN_SPEAKER),
    ("Bo:tea", None, "agent:helper", "", "helper", "agent:helper", HELPER),
    ("小明：茶", None, "agent:helper", "", "helper", "小明", HELPER),
    (f"{'n' * 40}: tea", None, "agent:helper", "", "helper", "n" * 40, HELPER),
    (f"{'n' * 41}: tea", None, "agent:helper", "", "helper", "agent:helper", HELPER),
    # Texts that a database stores encoded, because it cannot hold NUL or half a pair.
    (f"Bo: te{NUL}a", None, "agent:helper", "", "helper", "Bo", HELPER),
    (f"Bo{NUL}: {HALF}", None, "agent:helper", "", "helper", f"Bo{NUL}", HELPER),
    (f"é🜁{HALF}: tea", None, "agent:helper", "", "helper", f"é🜁{HALF}", HELPER),
    (f"n{'🜁' * 39}: {NUL}", None, "agent:helper", "", "helper", f"n{'🜁' * 39}", HELPER),
    (f"n{'🜁' * 40}: {NUL}", None, "agent:helper", "", "helper", "agent:helper", HELPER),
    (f'"{NUL}\\: tea', None, "agent:helper", "", "helper", "agent:helper", HELPER),
    (f'B\\"{NUL}: tea', None, "agent:helper", "", "helper", f'B\\"{NUL}', HELPER),
    ("\x01Bo: tea", None, "agent:helper", "", "helper", "agent:helper", HELPER),
]  # fmt: skip


def record(text, speaker, origin, metadata=None):
    stated = {} if speaker is None else {"speaker": speaker}
    provenance = Provenance(Origin.parse(origin))
    return memory(text, metadata={**(metadata or {}), **stated}, provenance=provenance)


RECORDS = [record(*case[:3]) for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_who_said_a_text(case):
    memory_of_case, (stated, name, key, speaker) = record(*case[:3]), case[3:]
    attribution = attribution_of(memory_of_case)
    assert attribution.stated == stated
    assert attribution.name == name
    assert attribution.key == key == speaker_key(memory_of_case)
    assert attribution.speaker == speaker


def test_names_of_many_records_are_those_of_each():
    assert speaker_names(RECORDS) == [name for *_, name, _, _ in CASES]
    shared = Provenance(Origin("user", "eve"))
    several = [
        memory(str(number), metadata=metadata, provenance=shared)
        for number, metadata in enumerate([{}, {"speaker": "Ann"}, {"speaker": 7}, {"a": 1}, {}])
    ]
    assert speaker_names(several) == ["eve", "Ann", "eve", "eve", "eve"]


@contextmanager
def sqlite_memory(folder):
    """Stores in a SQLite file, and what reads columns of all memories, in the order of storing."""
    path = folder / "memory.db"
    stores = sqlite_stores(path)

    def attributions():
        with sqlite3.connect(path) as db:
            sql = f"SELECT {SqliteDialect.speaker_columns} FROM record WHERE tier = 1 ORDER BY seq"
            return SqliteDialect().attributions(db.execute(sql).fetchall())

    yield stores, attributions
    stores.working.close()


@contextmanager
def postgres_memory(_):
    """The same in PostgreSQL."""
    with postgres.schema_at(postgres.url()) as address:
        stores = postgres_stores(address)
        plain, _, schema = address.replace("&schema=", "?schema=").partition("?schema=")

        def attributions():
            with psycopg.connect(plain) as db:
                db.execute(f'SET search_path = "{schema}", public')
                sql = (
                    f"SELECT {PostgresDialect.speaker_columns} FROM record"
                    " WHERE tier = 'long_term' ORDER BY seq"
                )
                return PostgresDialect().attributions(db.execute(sql).fetchall())

        yield stores, attributions
        stores.working.close()


DATABASES = pytest.mark.parametrize("database", [sqlite_memory, postgres_memory])


def answers(attribution):
    return attribution.stated, attribution.name, attribution.key, attribution.speaker


def check(database, folder, records):
    """Compare what columns of a database say with what the same records say in Python."""
    with database(folder) as (stores, attributions):
        stores.long_term.load(records)
        read = [answers(attribution) for attribution in attributions()]
    assert read == [answers(attribution_of(item)) for item in records]


@DATABASES
def test_a_database_answers_as_python_does(database, tmp_path):
    other = {"origin": "user:eve", "roots": [], "metadata": {"speaker": "eve"}, "a": '"speaker"'}
    again = [record(*case[:3], other | {"more": [{"speaker": "eve"}]}) for case in CASES]
    check(database, tmp_path, RECORDS + again)


PIECES = [
    "Ann", "Bo", " ", ": ", ":", "：", "\n", NUL, HALF, "\udc00", "\x01", '"', "\\", "\\u00", "🜁",
    "é", "{", "}", "speaker", '"speaker": "', '"metadata":{', '"origin":', '"roots":', "x" * 30,
]  # fmt: skip


@DATABASES
@pytest.mark.parametrize("seed", everyday_and_slow(0, *range(1, 8)))
def test_a_database_answers_as_python_does_about_any_record(database, tmp_path, seed):
    dice = random.Random(seed)

    def text(most):
        return "".join(dice.choice(PIECES) for _ in range(dice.randrange(most)))

    def value(depth=2):
        kind = dice.randrange(6 if depth else 3)
        if kind < 3:
            return (text(5), dice.choice([None, 7, True, 1.5, float("nan")]), "")[kind]
        if kind == 3:
            return [value(depth - 1) for _ in range(dice.randrange(3))]
        return mapping(depth - 1)

    def mapping(depth=2):
        keys = dice.choices(["speaker", "metadata", "origin", "roots", text(3)], k=3)
        return {key: value(depth) for key in keys[: dice.randrange(4)]}

    def origin():
        kinds = ["person", "user", "agent", "tool", "import", "file"]
        name = text(4).replace(NUL, "").encode("utf-8", "replace").decode()
        return Provenance(Origin(dice.choice(kinds), name))

    def promotion(at):
        scope = MemoryScope(tenant="acme", group_id="g")
        return PromotionRecord(
            scope=scope,
            provenance=origin(),
            promoted_by=f"p{at}",
            promoted_at=RECORDS[0].created_at,
        )

    check(
        database,
        tmp_path,
        [
            memory(
                text(9), metadata=mapping(), provenance=origin(), subject=text(4),
                further=tuple(promotion(at) for at in range(dice.randrange(3))),
            )
            for _ in range(200)
        ],
    )  # fmt: skip
