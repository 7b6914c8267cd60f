import pytest

from cli.running import here
from memoryware import TieredMemory


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with a configuration: the memory of the group shop in a file."""
    for name in ("STORE", "GROUP", "TENANT", "USER", "BY"):
        monkeypatch.delenv(f"MEMORYWARE_{name}", raising=False)
    monkeypatch.setenv("USER", "ann")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "memoryware.json").write_text(
        '{\n  "store": "sqlite:///memory.db",\n  "scope": {"group_id": "shop"}\n}\n'
    )
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(shop, monkeypatch, capsys):
    """The command in this process."""
    return lambda *args: here(monkeypatch, capsys, *args)


@pytest.fixture
def memory(shop):
    """The same memory as the command has."""
    with TieredMemory.open(f"sqlite:///{shop}/memory.db") as opened:
        yield opened
