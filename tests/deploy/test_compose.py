"""The Compose file and the image of `examples/deploy`, as far as no Docker is needed for it.

The commands and the health checks are taken from the files and run on real servers: as a user
who is not root, on a root that can only be read, with nothing but a small `/tmp` in memory.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest
import yaml

from deploy.running import DEPLOY, FACT, ROOT, TOKENS, environment, free_port, program, wait_until
from servers import postgres
from servers.redis import redis_server

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
SERVICES = COMPOSE["services"]
OURS = ("app", "worker")
ANN, BO = ({"Authorization": f"Bearer {name}-token"} for name in ("ann", "bo"))


def test_our_services_write_nothing_and_have_no_rights():
    for name in OURS:
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["user"] == "10001:10001"
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"]
        assert "volumes" not in service
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["10001:10001"]


def test_every_service_has_a_health_check_and_ours_wait_for_those_of_the_servers():
    for name, service in SERVICES.items():
        assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name
    for name in OURS:
        waits = {key: how["condition"] for key, how in SERVICES[name]["depends_on"].items()}
        assert waits == {"postgres": "service_healthy", "valkey": "service_healthy"}


def test_only_the_app_is_reached_from_outside_and_no_secret_is_in_the_file():
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["app"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["app"]["ports"])
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["worker"]["networks"] == ["inside"]
    secrets = [SERVICES["postgres"]["environment"]["POSTGRES_PASSWORD"]]
    secrets += [SERVICES[name]["environment"]["PGPASSWORD"] for name in OURS]
    assert {secret[:23] for secret in secrets} == {"${POSTGRES_PASSWORD:?se"}
    nested = re.findall(r"\$\{[^}]*\{", (DEPLOY / "compose.yaml").read_text())
    assert nested == []  # Compose ends a variable at the first brace


def test_answers_are_given_the_time_that_the_server_takes_to_stop():
    command = json.loads(re.search(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)[1])
    graceful = int(command[command.index("--timeout-graceful-shutdown") + 1])
    assert int(SERVICES["app"]["stop_grace_period"].rstrip("s")) > graceful


@pytest.mark.slow
def test_compose_accepts_the_file_where_it_is_installed():
    environ = {**environment(), "POSTGRES_PASSWORD": "a$b"}
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None:
            continue
        run = partial(subprocess.run, cwd=DEPLOY, capture_output=True, text=True, check=False)
        if run([*command, "version"]).returncode != 0:
            continue
        config = run([*command, "config"], env=environ)
        assert config.returncode == 0, config.stderr
        read = yaml.safe_load(config.stdout)["services"]["app"]["environment"]
        assert json.loads(read["TOKENS"]) == json.loads(TOKENS)
        del environ["TOKENS"]
        assert "who may sign in" in run([*command, "config"], env=environ).stderr
        environ["TOKENS"] = TOKENS


def test_the_image_gets_every_module_that_its_programs_import():
    copied = set(re.findall(r"examples/deploy/(\w+)\.py", DOCKERFILE))
    for name in copied:
        text = (DEPLOY / f"{name}.py").read_text()
        ours = {path.stem for path in DEPLOY.glob("*.py")}
        imported = set(re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)) & ours
        assert imported <= copied
    assert {"app", "worker"} <= copied


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_is_copied_into_the_image_is_enough_to_build_the_package(tmp_path):
    build = DOCKERFILE.split("\nFROM")[1]
    sources = re.findall(r"^COPY (.+) \S+$", build, re.MULTILINE)
    for name in " ".join(sources).split():
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", "built", "."]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=280)
    assert list((tmp_path / "built").glob("memoryware-*.whl"))


# Like a container: a root that can only be read, another user, no rights.

_CONTAINER = (
    "mount -o remount,ro,bind / && mount -t tmpfs -o size=16m,mode=1777 tmpfs /tmp"
    # The Python of this machine may be in a folder of root: reading it is the one right left.
    " && exec setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs"
    " --bounding-set=-all,+dac_read_search --inh-caps=-all,+dac_read_search"
    ' --ambient-caps=-all,+dac_read_search "$@"'
)
ENTER = ("unshare", "--mount", "--propagation", "private", "sh", "-c", _CONTAINER, "sh")


def command_of(service: str, port: int) -> list[str]:
    """Return what a container of the service runs, on another port."""
    image = json.loads(re.search(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)[1])
    command = SERVICES[service].get("command", image)
    return [
        {"8000": str(port), "0.0.0.0": "127.0.0.1", "worker.py": str(DEPLOY / "worker.py")}.get(
            part, part
        )
        for part in command
    ]


def is_healthy(service: str, pid: int, port: int, environ: dict[str, str]) -> bool:
    """Run the health check of a service inside its container."""
    _, *check = SERVICES[service]["healthcheck"]["test"]
    check = [part.replace("8000", str(port)) for part in check]
    enter = ("nsenter", "--target", str(pid), "--mount")
    run = subprocess.run(
        [*enter, *check], env=environ, cwd="/", capture_output=True, timeout=30, check=False
    )
    return run.returncode == 0


@pytest.fixture
def stack(in_memory, monkeypatch):
    """PostgreSQL and Valkey on ports of this machine; the value is the address of both."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can make a root that is only read")
    port, cache = free_port(), free_port()
    monkeypatch.setenv("PGPORT", str(port))  # for the client that waits for the server
    server = postgres.started(listen_addresses="127.0.0.1", port=str(port))
    monkeypatch.delenv("PGPORT")
    try:
        policy = SERVICES["valkey"]["command"][1:]
        with redis_server(*policy, port=cache) as valkey:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres + {valkey.url}"
    finally:
        server.remove()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_services_run_on_a_root_that_can_only_be_read(stack, in_memory):
    port, path = free_port(), f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    same = {
        "PATH": path, "MEMORY_URL": stack, "HOME": "/nonexistent", "REPORT_GROUPS": "shop",
        "PYTHONDONTWRITEBYTECODE": "1", "EVERY": "1", "LEARN": "rules", "LEARN_DELAY": "0",
    }  # fmt: skip
    environ = environment(**same)
    inside = {"cwd": in_memory, **same}
    with (
        program(*ENTER, *command_of("app", port), **inside) as app,
        program(*ENTER, *command_of("worker", port), **inside) as worker,
    ):
        app.wait_for("Application startup complete")
        worker.wait_for('"report"')
        url = f"http://127.0.0.1:{port}"
        for who, text in ((ANN, FACT), (BO, "Where are the orders?")):
            answer = httpx.post(f"{url}/chat", json={"text": text}, headers=who, timeout=30)
            assert "event: done" in answer.text
        assert "PostgreSQL" in answer.text
        waiting = re.compile(r'"waiting": \{"shop": [1-9]')
        wait_until(lambda: waiting.search(worker.output) is not None)
        worker.wait_for('"facts": 1')
        assert is_healthy("app", app.process.pid, port, environ)
        assert is_healthy("worker", worker.process.pid, port, environ)
        for running in (app, worker):
            status = Path(f"/proc/{running.process.pid}/status").read_text()
            assert "Uid:\t10001" in status
        running_in = ["nsenter", "--target", str(app.process.pid), "--mount"]
        written = subprocess.run([*running_in, "touch", DEPLOY / "x"], check=False)
        assert written.returncode != 0  # the root is only read indeed, for root as well
        assert worker.stop() == 0
        assert not is_healthy("worker", app.process.pid, port, environ)  # no worker is there
        app.stop(signal.SIGTERM)
        assert "Finished server process" in app.output
    assert "Traceback" not in app.output + worker.output
