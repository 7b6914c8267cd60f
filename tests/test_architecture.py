"""The shape of the package, held by tests: what the other tests cannot see."""

from __future__ import annotations

import ast
import builtins
import difflib
import gc
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import memoryware

pytestmark = pytest.mark.xdist_group("architecture")  # one worker parses the files

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "memoryware"
LONGEST_FILE, LONGEST_BODY = 800, 60
COPIED, LEAST_COPIED_LINES = 0.8, 4
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
PROTOCOLS = {"Appends", "BackendProtocol", "Fingerprints", "Names", "TwinBackend", "RecordBackend"}
LOOKS = {"isinstance", "issubclass", "hasattr", "signature", "getattr", "getattr_static"}
MAY_LOOK = {"backends/_adapter.py", "backends/_deepagents.py"}
HEAVY = ("deepagents", "langchain", "langgraph", "langsmith", "pydantic", "pytest")
ABOVE = ("agent", "demo", "testing", "local", "mcp", "middleware", "nodes")
"""What may load langchain: what stands above the backends, and a model that is asked for."""


@dataclass
class Module:
    """One file of the package."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))


MODULES = [
    Module(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
]
Rule = Callable[[Module], Iterator[str]]


@pytest.fixture(scope="module", autouse=True)
def trees_are_dropped():
    """They are 140 MB, which each collection of garbage would go through, here and later."""
    gc.disable()
    yield
    gc.enable()
    for module in MODULES:
        vars(module).pop("tree", None)
        vars(module).pop("nodes", None)


# The rules. Each yields the places that break it.


def long_files(module: Module) -> Iterator[str]:
    lines = module.text.splitlines()
    if len(lines) > LONGEST_FILE and not re.search(r"^# long: \S", module.text, re.MULTILINE):
        yield f"{len(lines)} lines; split it, or say why not in a comment '# long: ...'"


def long_bodies(module: Module) -> Iterator[str]:
    for function in functions_of(module):
        documented = ast.get_docstring(function) is not None
        start = function.body[0].end_lineno if documented else function.body[0].lineno - 1
        if (function.end_lineno or 0) - (start or 0) > LONGEST_BODY:
            yield f"{function.name}: {(function.end_lineno or 0) - (start or 0)} lines"


def private_names_of_others(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("memoryware"):
            for alias in node.names:
                private = alias.name.startswith("_") and not alias.name.endswith("__")
                if private and not is_module(node.module or "", alias.name):
                    yield f"line {node.lineno}: {alias.name} of {node.module}"


def copied_twins(module: Module) -> Iterator[str]:
    owners = (ast.Module, ast.ClassDef, *FUNCTION)
    for owner in (node for node in module.nodes if isinstance(node, owners)):
        functions = {f.name: f for f in owner.body if isinstance(f, FUNCTION)}
        for name, function in functions.items():
            twin = functions.get(re.sub(r"^(_?)a(?=[a-z])", r"\1", name))
            if isinstance(function, ast.AsyncFunctionDef) and twin not in (None, function):
                mine, other = words_of(function), words_of(twin)
                alike = difflib.SequenceMatcher(None, mine, other, autojunk=False).ratio()
                if mine.count("\n") + 1 >= LEAST_COPIED_LINES and alike >= COPIED:
                    yield f"{name} is a copy of {twin.name}; write the core once (_runner.py)"


def looks_at_a_backend(module: Module) -> Iterator[str]:
    """What a backend can do is asked in one file; everybody else calls it."""
    if module.name in MAY_LOOK:
        return
    for node in module.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in LOOKS:
            about, *asked = map(ast.unparse, node.args)
            names = set(re.findall(r"\w+", " ".join(asked)))
            kinds = names & PROTOCOLS or {one for one in names if one.endswith("Backend")}
            if kinds or re.search(r"backend|adapter", about, re.IGNORECASE):
                yield f"line {node.lineno}: {ast.unparse(node)}"


def private_names_of_langchain(module: Module) -> Iterator[str]:
    if module.name == "_langchain.py":
        return
    for node in module.nodes:
        for name in imported_by(node):
            package, *rest = name.split(".")
            if package.startswith(("langchain", "langgraph")) and any(
                part.startswith("_") for part in rest
            ):
                yield f"line {node.lineno}: {name}"
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.match(r"(langchain|langgraph)\w*(\.\w+)*\._\w", text):
            yield f"line {node.lineno}: {text!r}"


def undocumented(module: Module) -> Iterator[str]:
    if module.text.strip() and ast.get_docstring(module.tree) is None and "def " in module.text:
        yield "the module itself"
    for node in module.tree.body:
        named = isinstance(node, (ast.ClassDef, *FUNCTION)) and not node.name.startswith("_")
        if named and "overload" in map(ast.unparse, node.decorator_list):
            continue  # the one that is called says it
        if named and ast.get_docstring(node) is None:
            yield node.name


def prints(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "pprint"):
            yield f"line {node.lineno}; log it or emit an event"


def catches_everything(module: Module) -> Iterator[str]:
    """What catches everything raises it again, or says in its comment why it may not."""
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            caught = ast.unparse(node.type) if node.type else "everything"
            line = module.text.splitlines()[node.lineno - 1]
            if caught in ("everything", "Exception", "BaseException") and "#" not in line:
                yield f"line {node.lineno}: except {caught} without a reason"


def exits_with_a_number(module: Module) -> Iterator[str]:
    """Exit codes have names, in `cli/_exit_codes.py`."""
    for node in module.nodes:
        if isinstance(node, ast.Call) and re.search(r"(\bExit|\bexit)$", ast.unparse(node.func)):
            codes = [node.args[0]] if node.args else [word.value for word in node.keywords]
            if any(isinstance(code, ast.Constant) for code in codes):
                yield f"line {node.lineno}: {ast.unparse(node)}"


RULES: list[Rule] = [
    long_files,
    long_bodies,
    private_names_of_others,
    copied_twins,
    looks_at_a_backend,
    private_names_of_langchain,
    undocumented,
    prints,
    catches_everything,
    exits_with_a_number,
]


def functions_of(module: Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in module.nodes if isinstance(node, FUNCTION)]


def words_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    text = "\n".join(map(ast.unparse, body))
    return re.sub(r"\b(await |async )|\b_?a(?=[a-z_]+\()", "", text)


def imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def is_module(package: str, name: str) -> bool:
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    return path.with_suffix(".py").exists() or path.is_dir()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_no_file_has(rule):
    assert len(MODULES) > 20
    assert [f"{one.name}: {place}" for one in MODULES for place in rule(one)] == []


OFFENCES: list[tuple[Rule, str]] = [
    (long_files, "x = 1\n" * (LONGEST_FILE + 1)),
    (long_bodies, "def f():\n    '''Doc.'''\n" + "    x = 1\n" * (LONGEST_BODY + 1)),
    (private_names_of_others, "from memoryware.errors import _secret"),
    (
        copied_twins,
        (
            "def get(self):\n    a = self.one()\n    b = a + 1\n    self.put(b)\n    return a, b\n"
            "async def aget(self):\n    a = await self.aone()\n    b = a + 1\n"
            "    await self.aput(b)\n    return a, b\n"
        ),
    ),
    (looks_at_a_backend, "if isinstance(it, StateBackend): ..."),
    (looks_at_a_backend, "if hasattr(self._backend, 'append'): ..."),
    (looks_at_a_backend, "inspect.signature(backend.grep)"),
    (private_names_of_langchain, "from langgraph._internal._config import ensure_config"),
    (private_names_of_langchain, "import langchain_core._api"),
    (private_names_of_langchain, "import_module('langgraph._internal')"),
    (undocumented, "def public(): ..."),
    (undocumented, "'''Doc.'''\nclass Public: ..."),
    (prints, "print('here')"),
    (catches_everything, "try: f()\nexcept Exception: ..."),
    (catches_everything, "try: f()\nexcept: ..."),
    (exits_with_a_number, "raise typer.Exit(5)"),
    (exits_with_a_number, "raise typer.Exit(code=5)"),
    (exits_with_a_number, "sys.exit(1)"),
]


@pytest.mark.parametrize(("rule", "text"), OFFENCES)
def test_the_rule_notices(rule, text):
    assert [*rule(Module("some/file.py", text))] != []


# What is public.

CHAPTERS = (
    "memoryware.backends", "memoryware.demo", "memoryware.errors", "memoryware.events",
    "memoryware.guard", "memoryware.importers", "memoryware.middleware", "memoryware.nodes",
    "memoryware.settings", "memoryware.sources", "memoryware.stores", "memoryware.testing",
    "memoryware.tiers",
)  # fmt: skip
"""Public homes of names; the top of the package has those that most programs need."""


def public_names(module: str) -> list[str]:
    """Return the public names of a chapter: its `__all__`, or what it defines itself."""
    home = import_module(module)
    return list(getattr(home, "__all__", ())) or [
        name
        for name, value in vars(home).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module
    ]


def test_the_top_of_the_package_has_at_most_sixty_names():
    assert sorted(memoryware.__all__) == sorted(set(memoryware.__all__))
    assert len(memoryware.__all__) <= 60
    assert set(memoryware.__all__) <= set(dir(memoryware))
    with pytest.raises(AttributeError):
        memoryware.no_such_name


@pytest.mark.parametrize("module", ["memoryware", *CHAPTERS])
def test_public_names_load_and_belong_to_one_chapter(module):
    for name in public_names(module):
        assert getattr(import_module(module), name) is not None, name
    others = [chapter for chapter in CHAPTERS if chapter != module]
    shared = {name for other in others for name in public_names(other)} & {*public_names(module)}
    if module != "memoryware":
        assert shared <= {"ROLES", "RoleRules"}, "one name, one chapter"


def test_star_imports_shadow_no_common_name():
    """`from memoryware import *` must not replace a builtin or a usual name of a function."""
    usual = {*dir(builtins), "check", "scan", "listen", "read", "write", "run", "main", "log"}
    assert usual.isdisjoint(memoryware.__all__)


def test_type_checkers_see_the_names_that_are_loaded():
    """`__all__`, the loader's table and the imports for type checkers list the same names."""
    for module in MODULES:
        if "attach(__name__, _HOMES" not in module.text:
            continue
        below = next(node for node in module.tree.body if isinstance(node, ast.If))
        typed = {alias.name for node in ast.walk(below) for alias in getattr(node, "names", ())}
        table = next(
            node.value
            for node in module.tree.body
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_HOMES"
        )
        loaded = {name for names in ast.literal_eval(table).values() for name in names}
        stated = {*_home(module.name).__all__} - {"__version__"}
        assert typed == loaded == stated, module.name


def test_names_of_0_1_0_still_load_from_the_top_with_a_warning():
    moved = {name for names in memoryware._MOVED.values() for name in names.split()}
    assert len(moved) > 100
    for home, names in memoryware._MOVED.items():
        for old, _, new in (name.partition("=") for name in names.split()):
            with pytest.warns(DeprecationWarning, match=rf"{home}\.{new or old}"):
                value = getattr(memoryware, old)
            assert value is getattr(import_module(home), new or old)
            assert old not in memoryware.__all__


def _home(file: str) -> Any:
    """Import the module in a file of the package."""
    name = ".".join(["memoryware", *Path(file).with_suffix("").parts])
    return import_module(name.removesuffix(".__init__"))


@pytest.mark.parametrize("module", [one.name for one in MODULES if "\n__all__ = " in one.text])
def test_a_module_has_what_its_all_says(module):
    home = _home(module)
    assert [one for one in home.__all__ if not hasattr(home, one)] == []
    assert [one for one in home.__all__ if one.startswith("_") and one != "__version__"] == []


# Names.

VAGUE = frozenset(
    [
        "asked",
        "found",
        "given",
        "held",
        "how",
        "kept",
        "known",
        "made",
        "one",
        "place",
        "places",
        "said",
        "seen",
        "taken",
        "told",
        "wanted",
        "what",
        "who",
    ]
)
"""Names that say neither type nor role of a value; see the rules in docs/contributing.md."""
PUBLIC_FIELDS = frozenset({"kept", "known", "what"})
"""Fields of results and journals that users and files have had since the first release."""
SHARED_CLASSES = frozenset({"Recorded"})
"""Class names that stand for more than one thing: an event and the result that it reports."""


def test_no_value_has_a_vague_name():
    vague = [
        f"{module.name}:{node.lineno} {name}"
        for module in MODULES
        for node in module.nodes
        for name in [
            node.id
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else node.arg
            if isinstance(node, ast.arg)
            else ""
        ]
        if name.strip("_") in VAGUE and not (name in PUBLIC_FIELDS and node in fields_of(module))
    ]
    assert vague == []


def fields_of(module: Module) -> set[ast.AST]:
    """Return the names of annotated fields in the bodies of classes."""
    return {
        statement.target
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }


def test_a_class_name_stands_for_one_thing():
    homes: dict[str, set[str]] = {}
    for module in MODULES:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), set()).add(module.name)
    assert {
        name: sorted(files)
        for name, files in homes.items()
        if len(files) > 1 and name not in SHARED_CLASSES
    } == {}


def test_public_callables_state_arguments_and_results():
    """A public function with parameters has a Google-style `Args` section."""
    missing = []
    for module in MODULES:
        if any(part.startswith("_") for part in Path(module.name).parts if part != "__init__.py"):
            continue
        if module.name.startswith("cli/"):  # the parameters of a command are its help
            continue
        for scope in [
            module.tree,
            *(n for n in module.nodes if isinstance(n, ast.ClassDef)),
        ]:
            if isinstance(scope, ast.ClassDef) and scope.name.startswith("_"):
                continue
            missing += [
                f"{module.name}:{node.lineno} {node.name}"
                for node in scope.body
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and not node.name.startswith("_")
                and _parameters(node)
                and "Args:" not in (ast.get_docstring(node) or "")
                and not _inherits(node, scope)
                and not any("overload" in ast.unparse(how) for how in node.decorator_list)
            ]
    assert missing == []


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def _inherits(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: ast.AST) -> bool:
    """Say whether a method overrides one that is documented by its base class."""
    return isinstance(scope, ast.ClassDef) and bool(scope.bases) and not ast.get_docstring(node)


# What is loaded when.


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a statement loads in a process of its own."""
    script = f"import sys\n{statement}\nimport json\nprint(json.dumps([*sys.modules]))"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return set(json.loads(run.stdout))


def heavy(loaded: set[str]) -> set[str]:
    return {name for name in loaded if re.split(r"[._]", name)[0] in HEAVY}


def test_importing_the_package_loads_nothing_else():
    assert {one for one in loaded_by("import memoryware") if one.startswith("memoryware")} == {
        "memoryware",
        "memoryware._lazy",
        "memoryware._version",
    }


def test_nothing_below_the_middleware_loads_langchain():
    names = [
        ".".join(["memoryware", *Path(one.name).with_suffix("").parts]).removesuffix(".__init__")
        for one in MODULES
        if Path(one.name).with_suffix("").parts[0] not in ABOVE
    ]
    assert {"memoryware._langchain", "memoryware.backends.store"} <= set(names)
    assert heavy(loaded_by(f"import {', '.join(names)}")) == set()


def test_backends_can_be_made_without_langchain(tmp_path):
    statement = (
        "from memoryware import CompositeBackend, FilesystemBackend, StateBackend, StoreBackend\n"
        f"disk = FilesystemBackend({str(tmp_path)!r})\n"
        "disk.write('/a.md', 'one'); disk.edit('/a.md', 'one', 'two'); disk.grep('two')\n"
        "StateBackend(); CompositeBackend(default=disk, routes={'/b/': FilesystemBackend('.')})\n"
    )
    assert heavy(loaded_by(statement)) == set()


# One place for each fact.


def test_the_version_stands_in_one_place():
    version = memoryware.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", version)
    holders = [one.name for one in MODULES if version in one.text]
    assert holders == ["_version.py"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in project
    assert not re.search(r"^version\s*=", project, re.MULTILINE)


def test_both_halves_of_an_operation_of_tiered_memory_have_the_same_full_docstring():
    memory = memoryware.TieredMemory
    names = [one for one in dir(memory) if not one.startswith("_") and hasattr(memory, f"a{one}")]
    assert len(names) > 25
    for name in names:
        text = getattr(memory, name).__doc__
        assert getattr(memory, f"a{name}").__doc__ == text, name
        if name not in ("backup", "close", "note_shown"):
            assert "Returns:" in text, name


def test_every_change_is_told_in_a_fragment():
    fragments = [
        one for one in (ROOT / "docs" / "changelog.d").glob("*.md") if one.stem != "README"
    ]
    assert fragments
    for one in fragments:
        text = one.read_text(encoding="utf-8").strip()
        assert text, one.name
        assert len(text) < 600, f"{one.name}: a fragment is a sentence or two"
