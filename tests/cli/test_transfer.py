"""`export`, `import`, `copy`, `reindex` and `doctor`."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from memoryware import MemoryScope, TieredMemory
from memoryware.cli import transfer
from memoryware.errors import StoreUnavailable

SHOP = MemoryScope(group_id="shop")


def test_a_bundle_goes_out_for_its_owner_alone_and_comes_in_without_trust(cli, shop, memory):
    memory.promote("Use pnpm.", SHOP, by="ann")
    assert cli("export", "b.jsonl").code == 0
    assert stat.S_IMODE((shop / "b.jsonl").stat().st_mode) == 0o600
    assert cli("export", "b.jsonl").code == 2  # it is there
    written = (shop / "b.jsonl").read_text().splitlines()
    assert cli("export").out.splitlines()[1:] == written[1:]  # the first has the time
    out = json.loads(cli("import", "b.jsonl", "--group", "two", "--json").out)
    assert (out["added"], out["origin"]) == (1, "import:b")
    again = json.loads(cli("import", "b.jsonl", "--group", "two", "--json").out)
    assert (again["added"], again["known"]) == (0, 1)
    listed = cli("list", "--group", "two").out
    assert "untrusted" in listed
    assert cli("revoke", "--origin", "import:b", "--group", "two", "--yes").code == 0


def test_a_bundle_that_cannot_be_read_ends_with_3_and_names_the_line(cli, shop):
    (shop / "b.jsonl").write_text('{"format": "memoryware-bundle", "version": 1}\nnonsense\n')
    ran = cli("import", "b.jsonl")
    assert ran.code == 3
    assert "b.jsonl: Line 2: not valid JSON" in ran.err
    (shop / "b.jsonl").write_bytes(b"\xff\xfe\x00")
    assert cli("import", "b.jsonl").code == 3
    assert cli("import", "nothere.jsonl").code == 3


def test_an_interrupted_copy_goes_on_where_it_stopped(cli, shop, memory, monkeypatch):
    for number in range(6):
        memory.log_quarantine(f"text {number}", SHOP)
    real, seen = transfer.copy_stores, []

    def broken(source, target, **how):
        def told(report):
            how["on_progress"](report)
            if len(seen) == 2:
                raise StoreUnavailable("the line is cut")
            seen.append(report)

        return real(source, target, **{**how, "on_progress": told})

    monkeypatch.setattr(transfer, "copy_stores", broken)
    args = ["copy", "sqlite:///memory.db", "sqlite:///two.db", "--batch", "2"]
    assert cli(*args).code == 1
    marks = []
    monkeypatch.setattr(
        transfer, "copy_stores", lambda *a, **how: marks.append(how["marks"]) or real(*a, **how)
    )
    ran = cli(*args)
    assert "Resuming the last copy" in ran.err
    assert marks[0].get("quarantine")
    assert ran.out.startswith("The same: 6 in quarantine")
    assert not list(shop.parent.rglob("copy-*.json"))
    with TieredMemory.open("sqlite:///two.db") as two:
        assert two.list(SHOP).total == 6


def test_a_dry_run_of_a_copy_tells_what_it_would_do_and_changes_nothing(cli, shop, memory):
    one = memory.log_quarantine("Use pnpm.", SHOP)
    memory.promote(one, by="ann")
    args = ["copy", "sqlite:///memory.db", "sqlite:///two.db", "--dry-run"]
    assert "Would copy 2 records: 1 in quarantine" in cli(*args, "--exact").out
    assert not (shop / "two.db").exists()
    assert cli(*args[:-1]).code == 0
    with TieredMemory.open("sqlite:///two.db") as two:
        two.log_quarantine("Only there.", "elsewhere")
        before = two.export(SHOP)[1:]
    for text in ("Use npm.", "Use pip."):
        memory.log_quarantine(text, SHOP)
    ran = cli(*args)
    assert "Would copy 2 records: 2 in quarantine" in ran.out
    assert "Only there." not in ran.out
    ran = cli(*args, "--exact")
    assert "deleted permanently: 1 record: 1 in quarantine" in ran.out
    assert "    Only there." in ran.out
    found = json.loads(cli(*args, "--exact", "--json").out)
    assert (found["copied"]["total"], found["surplus"]["quarantine"], found["done"]) == (
        2,
        1,
        False,
    )
    assert [(one["tier"], one["content"]) for one in found["records"]] == [
        ("quarantine", "Only there.")
    ]
    with TieredMemory.open("sqlite:///two.db") as two:
        assert two.list("elsewhere").total == 1
        assert two.export(SHOP)[1:] == before
    assert cli(*args[:-1], "--exact", "--yes").code == 0
    with TieredMemory.open("sqlite:///two.db") as two:
        assert two.list("elsewhere").total == 0
    assert "Would copy 0 records" in cli(*args).out


def test_what_differs_would_be_copied_and_an_empty_source_would_not_empty_the_target(
    cli, shop, memory
):
    one = memory.log_quarantine("Use pnpm.", SHOP)
    cli("copy", "sqlite:///memory.db", "sqlite:///two.db")
    memory.propose(one, by="ann")
    args = ("copy", "sqlite:///memory.db", "sqlite:///two.db", "--dry-run")
    assert "Would copy 1 record:" in cli(*args).out
    with TieredMemory.open("sqlite:///empty.db"):
        pass
    ran = cli("copy", "sqlite:///empty.db", "sqlite:///two.db", "--exact", "--dry-run")
    assert (ran.code, "the source has none" in ran.err) == (2, True)


def test_a_copy_from_a_file_that_is_not_there_makes_none(cli, shop):
    assert cli("copy", "sqlite:///no.db", "sqlite:///two.db").code == 1
    assert os.listdir(shop) == ["memoryware.json"]


def test_reindex_embeds_all_and_tells_first_what_it_replaces(cli, memory):
    pytest.importorskip("onnxruntime")
    memory.promote("Use pnpm.", SHOP, by="ann")
    assert cli("reindex").code == 2
    assert "Would replace them" in cli("reindex", "--embeddings", "local", "--dry-run").out
    assert "Embedded 1" in cli("reindex", "--embeddings", "local").out
    found = json.loads(cli("doctor", "--embeddings", "local", "--ask-model", "--json").out)
    said = {one["name"]: one["said"] for one in found["checks"]}
    assert "1 of all-MiniLM" in said["vectors"]
    assert "384 dimensions" in said["model"]
    assert said["pending"].startswith("0 ")


def test_doctor_counts_memories_in_a_script_that_the_model_does_not_know(cli, memory):
    memory.promote("Use pnpm.", SHOP, by="ann")
    memory.promote("Пекарня закрыта по вторникам.", SHOP, by="ann")
    assert "Embedded 1" in cli("reindex", "--embeddings", "local").out
    found = json.loads(cli("doctor", "--embeddings", "local", "--json").out)
    by_name = {check["name"]: check for check in found["checks"]}
    assert by_name["scripts"]["said"].startswith("1 of 2 memories")
    assert "local:multilingual" in by_name["scripts"]["todo"]
    assert by_name["pending"]["state"] == "ok"


# doctor


def checks(ran):
    return {one["name"]: one["state"] for one in json.loads(ran.out)["checks"]}


def test_doctor_finds_all_well_in_a_new_store(cli, memory):
    ran = cli("doctor", "--json")
    assert ran.code == 0
    assert set(checks(ran).values()) == {"ok"}


def test_doctor_names_the_copy_that_an_upgrade_has_left(cli, shop, memory):
    memory.backup(shop / "memory.db.version-3")
    (shop / "other.db.version-3").write_bytes(b"of another file")
    ran = cli("doctor")
    assert ran.code == 0
    assert "memory.db.version-3" in ran.out
    assert "delete it" in ran.out
    assert "other.db" not in ran.out


def test_doctor_says_what_to_do_without_a_store_or_a_configuration(cli, shop):
    (shop / "memoryware.json").unlink()
    ran = cli("doctor")
    assert ran.code == 0
    assert "run memoryware init" in ran.out
    assert "memoryware add creates it" in ran.out
    assert os.listdir(shop) == []


def test_doctor_finds_a_file_that_others_may_read_and_a_folder_that_they_may_change(
    cli,
):
    with tempfile.TemporaryDirectory() as folder:  # those of pytest are private, whatever is below
        file = Path(folder, "memory.db")
        TieredMemory.open(f"sqlite:///{file}").close()
        file.chmod(0o644)
        file.parent.chmod(0o777)
        ran = cli("doctor", "--json", "--store", f"sqlite:///{file}")
    assert ran.code == 5
    assert checks(ran)["file"] == checks(ran)["folder"] == "bad"
    assert "other users may read it, as after gunzip, tar or cp" in ran.out


@pytest.mark.parametrize("log_is_there", [False, True])
def test_doctor_names_the_command_that_makes_a_file_private_again(cli, shop, log_is_there):
    writer = TieredMemory.open("sqlite:///memory.db")
    writer.log_quarantine("We deploy on Fridays.", SHOP)
    if not log_is_there:
        writer.close()
    shop.chmod(0o700)
    (shop / "memory.db").chmod(0o664)
    subprocess.run(["touch", "memory.db-wal"], check=True) if log_is_there else None
    ran = cli("doctor", "--json")
    found = next(one for one in json.loads(ran.out)["checks"] if one["name"] == "file")
    assert (ran.code, found["state"]) == (0, "note")
    assert "other users could read and write it, but a folder above admits only" in found["said"]
    assert found["todo"].startswith("chmod 600 ")
    subprocess.run(found["todo"], shell=True, check=True)
    assert checks(cli("doctor", "--json"))["file"] == "ok"
    with TieredMemory.open("sqlite:///memory.db") as memory:
        assert memory.count_waiting(SHOP) == 1
    writer.close()


def test_doctor_finds_a_broken_file_and_one_of_a_newer_version(cli, shop):
    with TieredMemory.open("sqlite:///memory.db") as memory:
        for number in range(200):
            memory.log_quarantine(f"text {number} " * 50, SHOP)
    with sqlite3.connect(shop / "memory.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA user_version = 9999")
    db.close()
    ran = cli("doctor", "--json")
    assert (ran.code, checks(ran)["store"]) == (5, "bad")
    whole = bytearray((shop / "memory.db").read_bytes())
    whole[8192:40960] = b"\x5a" * (40960 - 8192)
    (shop / "memory.db").write_bytes(whole)
    ran = cli("doctor", "--json")
    assert (ran.code, checks(ran)["integrity"]) == (5, "bad")


def test_an_address_is_shown_without_its_password(cli):
    ran = cli("doctor", "--store", "postgresql://ann:hunter2@localhost:1/none?password=hunter2")
    assert ran.code == 5
    assert "hunter2" not in ran.out + ran.err
