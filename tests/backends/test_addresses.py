"""Backends of memory files by their address."""

from __future__ import annotations

import pytest
from langgraph.store.sqlite import SqliteStore

from memoryware import FilesystemBackend, StoreBackend
from memoryware.backends import aopen_files, open_files
from memoryware.errors import BackendUnavailable, SettingError


def test_a_folder_is_opened(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    backend = open_files(tmp_path)
    assert isinstance(backend, FilesystemBackend)
    assert backend.read("/AGENTS.md").file_data["content"] == "Use tabs."


async def test_files_in_a_store_in_a_file_are_opened(tmp_path):
    path = tmp_path / "store.db"
    with SqliteStore.from_conn_string(str(path)) as store:
        store.setup()
        made = StoreBackend(store=store, namespace=("memory", "a/b"))
        made.write("/AGENTS.md", "Use tabs.")
    address = f"store+sqlite:///{path}?namespace=memory/a%2Fb"
    assert open_files(address).read("/AGENTS.md").file_data["content"] == "Use tabs."
    again = await aopen_files(address)
    assert again.edit("/AGENTS.md", "tabs", "spaces").error is None
    assert open_files(address).read("/AGENTS.md").file_data["content"] == "Use spaces."
    other = open_files(f"store+sqlite:///{path}?namespace=memory/other")
    assert other.read("/AGENTS.md").error


@pytest.mark.parametrize(
    ("address", "error", "said"),
    [
        ("", SettingError, "a folder"),
        ("sqlite:///memory.db", SettingError, "not an address of memory files"),
        ("store+sqlite:///memory.db", SettingError, "namespace"),
        ("store+redis://host?namespace=a", SettingError, "not a supported store"),
        ("/no/such/folder", BackendUnavailable, "no such folder"),
        ("store+sqlite:////no/such.db?namespace=a", BackendUnavailable, "no such file"),
    ],
)
def test_what_cannot_be_opened_says_what_to_do(address, error, said):
    with pytest.raises(error, match=said):
        open_files(address)


def test_a_server_that_is_away_is_told_without_its_password():
    with pytest.raises(BackendUnavailable) as caught:
        open_files("store+postgresql://ann:hunter2@127.0.0.1:1/x?namespace=a")
    assert "hunter2" not in str(caught.value)
