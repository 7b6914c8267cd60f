"""A disk that is full, and a limit on the size of files, leave what was there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LIMITED = """
import resource, sys
from memoryware.backends.filesystem import FilesystemBackend

backend = FilesystemBackend(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for result in (
    backend.edit("/AGENTS.md", "HEAD", "H" * 20_000),
    backend.write("/AGENTS.md", "x" * 20_000),
    backend.append("/AGENTS.md", "x" * 20_000),
    backend.write("/new.md", "x" * 20_000),
):
    print(result.error)
print(backend.upload_files([("/AGENTS.md", b"x" * 20_000)])[0].error)
print(backend.write("/small.md", "fits").error)
"""

FULL = """
import os, subprocess, sys
from memoryware.backends.filesystem import FilesystemBackend

root = sys.argv[1]
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", root])
if mounted.returncode:
    sys.exit(77)
backend = FilesystemBackend(root)
old = "".join(f"rule {n}\\n" for n in range(2000))
assert backend.write("/AGENTS.md", old).error is None
filler = os.open(root + "/filler", os.O_CREAT | os.O_WRONLY)
try:
    while True:
        os.write(filler, b"x" * 4096)
except OSError as full:
    print(full.strerror)
os.close(filler)
for result in (
    backend.edit("/AGENTS.md", "rule 7\\n", "rule seven\\n"),
    backend.write("/AGENTS.md", "x" * 20_000),
    backend.append("/AGENTS.md", "one more"),
    backend.write("/new.md", "x" * 20_000),
    backend.write("/folder/new.md", "x" * 20_000),
):
    assert "No space left" in result.error, result
    assert "make room and try again" in result.error, result
assert backend.upload_files([("/AGENTS.md", b"x")])[0].error == "write_failed"
assert backend.download_files(["/AGENTS.md"])[0].content.decode() == old
left = [name for name in os.listdir(root) if name not in ("AGENTS.md", "filler", "folder")]
assert left in ([], ["new.md"]) and not left, left
assert backend.delete("/filler").error is None, "a full disk must allow to make room"
assert backend.edit("/AGENTS.md", "rule 7\\n", "rule seven\\n").error is None
print("kept")
"""


def test_a_limit_on_the_size_of_files_leaves_the_old_file(tmp_path):
    before = "HEAD\n" + "".join(f"rule {n}\n" for n in range(200))
    (tmp_path / "AGENTS.md").write_text(before)
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    *refused, uploaded, small = done.stdout.splitlines()

    assert all("File too large. The old text is still there" in error for error in refused)
    assert len(refused) == 4
    assert (uploaded, small) == ("write_failed", "None")
    assert (tmp_path / "AGENTS.md").read_text() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["AGENTS.md", "small.md"]


def test_a_full_disk_leaves_the_old_file_and_lets_room_be_made(tmp_path):
    if not os.path.exists("/usr/bin/unshare"):
        pytest.skip("no unshare here, which mounts a small disk for one process only")
    own = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--mount", *own, sys.executable, "-c", FULL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    if done.returncode in (1, 77) and "permitted" in done.stderr.lower():
        pytest.skip(f"a small disk may not be mounted here: {done.stderr.strip()}")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["No space left on device", "kept"]
