"""The measurement of speed: what it asks, whom it asks, and what it tells. Never how fast."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from memoryware.bench.speed import Wanted, command, run, text_of
from memoryware.bench.speed.floors import NumPy, SQLite
from memoryware.bench.speed.goals import AT, judged
from memoryware.bench.speed.langgraph import InMemory, Sqlite
from memoryware.bench.speed.made import BEST, Made
from memoryware.bench.speed.ours import Ours, OurStore
from memoryware.bench.speed.report import Report, Row
from memoryware.bench.speed.running import _grown
from memoryware.bench.speed.sides import VECTORS, WORDS, Absent, Place, resident
from memoryware.bench.speed.turns import in_turns
from memoryware.errors import SettingError

pytest.importorskip("numpy")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
SPEED = [sys.executable, "-m", "memoryware", "bench", "speed"]


@pytest.fixture(scope="module")
def made():
    return Made(2000, later=10)


@pytest.fixture(scope="module")
def filled(made, tmp_path_factory):
    """Return a side with everything in it by its class; each is filled once."""
    folder, there = tmp_path_factory.mktemp("sides"), {}

    def of(kind):
        if kind not in there:
            there[kind] = opened(kind, made, folder)
        return there[kind]

    yield of
    for side in there.values():
        side.close()


def opened(kind, made, folder):
    """Return a side with everything in it."""
    try:
        side = kind(made, Place(folder / kind.name))
    except Absent as absent:
        pytest.skip(str(absent))
    side.load(range(made.size))
    side.loaded()
    return side


def test_the_same_memories_and_questions_are_made_every_time(made):
    again = Made(2000, later=10)
    assert again.texts == made.texts
    assert again.questions == made.questions
    assert (again.vectors == made.vectors).all()
    assert len(set(made.texts)) == 2010


def test_topics_have_nothing_to_do_with_groups(made):
    """So a search that looks at the nearest of all groups first misses most of one group."""
    in_group = [
        len({one for one in made.nearest(asked, whole=True) if one in made.members(asked.group)})
        for asked in made.questions
    ]
    assert 0.3 < sum(in_group) / (BEST * len(in_group)) < 0.7  # of two groups, one half each


def test_every_memory_is_in_one_group():
    for size in (10, 999, 1000, 2500, 3000):
        made = Made(size, later=4)
        members = [number for group in range(made.groups) for number in made.members(group)]
        assert members == list(range(size))
        assert all(n in made.members(made.group_of(n)) for n in members)
        assert {made.group_of(size + n) for n in range(4)} <= set(range(made.groups))


@pytest.mark.parametrize("kind", [Ours, InMemory, Sqlite, NumPy])
@pytest.mark.parametrize("whole", [False, True])
def test_every_side_finds_the_nearest_of_where_it_is_asked(made, filled, kind, whole):
    side = filled(kind)
    ask = side.asks()[VECTORS]
    for asked in made.questions[:5]:
        found = side.numbers(ask(asked, whole))
        assert made.share(asked, found, whole=whole) >= 0.9, found


@pytest.mark.parametrize("whole", [False, True])
def test_our_sides_and_the_floor_find_texts_that_have_the_words(made, filled, whole):
    ours, floor = filled(Ours), filled(SQLite)
    for side in (ours, OurStore(ours), floor):
        for asked in made.questions[:5]:
            found = side.numbers(side.asks()[WORDS](asked, whole))
            assert found, asked.text
            there = range(made.size) if whole else made.members(asked.group)
            assert all(n in there for n in found)
            assert all(set(asked.words) & set(made.texts[n].split()) for n in found)


def test_every_put_keeps_one_memory_more(tmp_path):
    made = Made(20, later=10)
    for kind in (Ours, InMemory, Sqlite, SQLite):
        side = opened(kind, made, tmp_path)
        for number, put in enumerate(side.puts().values(), start=made.size):
            put(number)
        side.close()
    ours = Ours(made, Place(tmp_path / Ours.name))
    later = OurStore(ours)
    later.puts()["promote"](made.size + 5)
    asked = made.texts[made.size + 5]
    scope = ours.kept(made.size + 5).scope
    assert asked in [one.content for one in ours.spread.retrieve(asked, scope)]
    ours.close()


def test_each_round_begins_with_another_side_and_the_first_does_not_count():
    order = []
    acts = {name: ((lambda number, n=name: (n, number)), order.append) for name in "abc"}
    taken = in_turns(acts, 2, patience=60, told=lambda *_: None)
    assert "".join(name for name, _ in order) == "abcbcacab"
    assert {name: len(one.wall) for name, one in taken.items()} == dict.fromkeys("abc", 2)


def test_an_operation_that_takes_long_gets_fewer_rounds_but_a_few():
    acts = {"one": ((lambda number: number), (lambda number: None))}
    taken = in_turns(acts, 50, patience=0, told=lambda *_: None)
    assert len(taken["one"].wall) == 3


def test_goals_are_held_against_what_was_measured():
    report = Report(rows=[Row(AT, VECTORS, "small", "ms", {"memoryware": 1.0})])
    report.rows[0].ratios = {
        "memoryware": {"SqliteStore": 31.0},
        "its store": {"SqliteStore": 29.0},
    }
    report.rows[0].recalls = {"memoryware": 1.0, "its store": 0.9}
    report.rows.append(Row(10_000, VECTORS, "small", "ms", {"memoryware": 1.0}))
    report.rows[0].cpu, report.rows[1].cpu = {"memoryware": 1.0}, {"memoryware": 0.5}
    report.goals = judged(report, room=1.4)
    known = {one.what: one.held for one in report.goals if one.held is not None}
    assert known == {
        "vectors in a group of 1,000 of 100,000: memoryware against SqliteStore": True,
        "vectors in a group of 1,000 of 100,000: its store against SqliteStore": False,
        "part of the ten nearest in a group of 1,000 of 100,000: memoryware": True,
        "part of the ten nearest in a group of 1,000 of 100,000: its store": False,
        "vectors in a group of 1,000: 100,000 against 10,000 in the file": False,
        "bytes of the file for those of vectors at 16 bits and texts, 100,000": True,
    }
    assert text_of(report).count("NOT MET") == 3


def test_more_of_a_rate_and_less_of_a_time_is_better():
    rate = Row.counted(10, "bulk load", "/s", {"memoryware": 100.0, "SqliteStore": 50.0})
    room = Row.counted(10, "memory", "MB", {"memoryware": 100.0, "SqliteStore": 50.0})
    assert rate.ratios == {"memoryware": {"SqliteStore": 2.0}}
    assert room.ratios == {"memoryware": {"SqliteStore": 0.5}}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"peers": ["Oracle"]}, "no such peer"),
        ({"sizes": [3]}, "at least 10"),
        ({"sizes": []}, "at least 10"),
        ({"rounds": 0}, "from 1"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(wrong, said):
    with pytest.raises(SettingError, match=said):
        Wanted(**wrong)


def test_a_peer_that_is_not_there_is_named_with_the_reason_and_the_run_goes_on():
    wanted = Wanted(sizes=[20], rounds=1, peers=["postgresstore", "NumPy"], alone=False)
    report = run(wanted, lambda line: None)
    assert [(one.side, "--postgres" in one.why) for one in report.missing] == [
        ("PostgresStore", True)
    ]
    assert "NumPy" in report.row(20, VECTORS, "all").values


def test_memory_is_that_of_a_process_that_only_opens_and_asks():
    report = run(Wanted(sizes=[3000], rounds=1, peers=["InMemoryStore"]), lambda line: None)
    if resident() is None:
        pytest.skip("this system does not say how much memory a process has")
    grown = report.row(3000, "memory", "").values
    assert set(grown) == {"memoryware", "InMemoryStore"}
    assert grown["InMemoryStore"] > 3000 * 384 * 8 / 1e6 / 2  # lists of numbers, some room reused


def test_what_was_measured_is_handed_over_after_each_size():
    seen = []
    wanted = Wanted(sizes=[20, 30], rounds=1, peers=["NumPy"], alone=False)
    run(wanted, lambda line: None, lambda report: seen.append({one.size for one in report.rows}))
    assert seen == [{20}, {20, 30}]


def test_a_side_that_fails_in_a_process_of_its_own_is_named(tmp_path):
    report, made = Report(), Made(20, later=0)
    folder = tmp_path / "SQLite"
    side = SQLite(made, Place(folder))
    side.close()
    (folder / "floor.db").write_bytes(b"no database" * 1000)
    assert _grown([side], report) == {}
    assert [(one.side, "process ended" in one.why) for one in report.missing] == [("SQLite", True)]


@pytest.mark.slow
def test_the_command_writes_tables_json_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    written, drawn = tmp_path / "speed.json", tmp_path / "speed.svg"
    given = ["--sizes", "200,1000", "--rounds", "2", "--no-memory"]
    given += ["--json", str(written), "--plot", str(drawn)]
    ran = subprocess.run(
        [*SPEED, *given],
        capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "| hybrid small" in ran.stdout
    found = json.loads(written.read_text(encoding="utf-8"))
    assert set(found) == {"about", "rows", "missing", "goals"}
    operations = {(one["size"], one["operation"], one["scope"]) for one in found["rows"]}
    for size in (200, 1000):
        searches = {
            (size, kind, scope)
            for kind in ("words", "vectors", "hybrid")
            for scope in ("small", "all")
        }
        searches |= {(size, "frequent words", scope) for scope in ("small", "all")}
        searches.add((size, "hybrid", "first"))
        puts = {(size, name, "") for name in ("bulk load", "record", "promote", "disk")}
        assert searches | puts <= operations
    for one in found["rows"]:
        assert all(value >= 0 for value in one["values"].values())
        if one["operation"] == "vectors":
            assert one["recalls"]["memoryware"] == one["recalls"]["its store"] == 1
            assert {"memoryware", "its store", "InMemoryStore", "NumPy"} <= set(one["values"])
            assert set(one["ratios"]["memoryware"]) == set(one["values"]) - {"memoryware"}
    assert "memoryware" in found["about"]["versions"]
    assert "memoryware, hybrid" in drawn.read_text(encoding="utf-8")


def test_without_numpy_the_command_says_what_to_install():
    script = (
        "import sys\nsys.modules['numpy'] = None\n"
        "sys.argv = ['memoryware', 'bench', 'speed', '--sizes', '20']\n"
        "from memoryware.cli.main import main\nmain()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=250, check=False
    )
    assert ran.returncode == 2
    assert "pip install numpy" in ran.stderr.splitlines()[-1]


def test_where_results_cannot_be_written_is_said_before_anything_is_measured(tmp_path):
    for name in ("json_path", "plot_path"):
        with pytest.raises(SettingError, match="no folder"):
            command(sizes=[20], **{name: tmp_path / "nowhere" / "speed.svg"})


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (["--peers", "Oracle"], 2, "there is no such peer"),
        (["--sizes", "many"], 2, "numbers with commas"),
        (["--plot", "speed.png"], 2, "must end in .svg"),
        (["--json", "nowhere/speed.json"], 2, "there is no folder"),
        (["--sizes", "20", "--store", "sqlite:///nowhere/memory.db"], 1, "is its folder there"),
    ],
)
def test_what_cannot_be_ends_the_command_with_a_sentence(tmp_path, given, code, said):
    ran = subprocess.run(
        [*SPEED, *given], capture_output=True, text=True, timeout=250, check=False, cwd=tmp_path
    )
    assert ran.returncode == code
    assert said in ran.stderr.splitlines()[-1]
    assert "Traceback" not in ran.stderr
    assert not ran.stdout


def test_json_on_the_output_is_nothing_but_json():
    given = ["--sizes", "20", "--rounds", "1", "--peers", "NumPy", "--no-memory", "--json", "-"]
    ran = subprocess.run([*SPEED, *given], capture_output=True, text=True, timeout=250, check=False)
    assert ran.returncode == 0, ran.stderr
    assert {one["size"] for one in json.loads(ran.stdout)["rows"]} == {20}
