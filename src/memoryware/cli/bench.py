"""`memoryware bench recall`: measure memory."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware._install import install_command
from memoryware.bench.datasets import Granularity, Roles
from memoryware.bench.filling import Filling
from memoryware.bench.recall import (
    Dataset,
    Measurement,
    Report,
    SplitChoice,
    format_share,
    json_lines,
    measure,
    plan,
)
from memoryware.bench.scoring import CURVE, EXACT
from memoryware.cli import _output
from memoryware.cli._options import MODEL_NAMES
from memoryware.errors import DatasetRefused, SettingError


def recall(
    dataset: Annotated[Dataset, typer.Argument(help="The format of the data set.")],
    path: Annotated[
        Path, typer.Argument(help="Its file or folder; for jsonl the file of turns, or a folder.")
    ],
    *,
    embeddings: Annotated[
        str, typer.Option(help=f'The model: {MODEL_NAMES}; "none" for words alone.')
    ] = "none",
    store: Annotated[
        str | None, typer.Option(help="The URL of an empty store. Default: a temporary file.")
    ] = None,
    cache: Annotated[Path | None, typer.Option(help="A folder to cache vectors in.")] = None,
    lists: Annotated[
        bool, typer.Option("--lists", help="Search words and vectors separately as well.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Run separate searches for 5 and 10 results.")
    ] = False,
    split: Annotated[
        SplitChoice | None, typer.Option(help="locomo: only these conversations.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="jsonl: the file of questions, if not next to the turns.")
    ] = None,
    roles: Annotated[Roles, typer.Option(help="longmemeval: whose turns are searched.")] = "user",
    granularity: Annotated[
        Granularity, typer.Option(help="longmemeval: what one memory contains.")
    ] = "turn",
    names: Annotated[
        bool, typer.Option("--names", help='Store "Ann: ..." instead of the text of a turn alone.')
    ] = False,
    fill: Annotated[
        Filling, typer.Option(help='Record and promote turns, or load them in "bulk".')
    ] = "turns",
    first: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many conversations.")
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(help='Write a JSON report to FILE; "-" prints it instead of tables.'),
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Write a plot to FILE.svg.")] = None,
    each: Annotated[
        str | None, typer.Option(help="Write the ranks of each question to FILE, as JSON Lines.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables as Markdown.")] = False,
) -> None:
    """Measure how often a search finds the turns that answer a question; needs no language model.

    Exit codes: 0 done, 1 a store or model failed, 2 usage error, 3 the data set cannot be read.
    """
    _check(path, json=json, plot=plot, each=each)
    planned = plan(
        dataset,
        path,
        split=split,
        questions=questions,
        roles=roles,
        granularity=granularity,
        names=names,
        first=first,
    )
    alone = (CURVE[:-1] if plot else EXACT) if exact else ()
    with _output.progress(dataset, planned.questions) as step:
        measured = measure(
            planned.conversations,
            planned.scoring,
            store=store,
            embeddings=None if embeddings == "none" else embeddings,
            cache=cache,
            alone=alone,
            lists=lists,
            filling=fill,
            on_progress=lambda done: step(len(done.scored)),
        )
    about = {
        "dataset": dataset,
        "path": path.name,
        "embeddings": embeddings,
        "store": "sqlite" if store is None else store.partition(":")[0],
        "asked_alone": alone,
        "roles": roles,
        "granularity": granularity,
        "names": names,
        "fill": fill,
    }
    report = Report.of(measured, planned.scoring, splits=planned.splits, about=about)
    _show(report, measured, json=json, plot=plot, each=each, markdown=markdown)


def _check(path: Path, **targets: str | None) -> None:
    """Check the outputs before a long run."""
    if not path.exists():
        raise DatasetRefused(str(path), "there is no such file or folder")
    for name, suffix in (("json", ""), ("plot", ".svg"), ("each", "")):
        _output.check_target(f"--{name}", targets[name], suffix)
    if targets["plot"] is not None and find_spec("matplotlib") is None:
        raise SettingError(f"--plot needs matplotlib: {install_command('bench')}")


def _show(report: Report, measured: Measurement, *, markdown: bool, **targets: str | None) -> None:
    if not report.tables or not measured.scored:
        raise SettingError("no question has an answer in these conversations: nothing to measure")
    if (target := targets["each"]) is not None:
        _output.write_text(target, "\n".join(json_lines(measured.scored)))
    if (target := targets["plot"]) is not None:
        from memoryware.bench.plot import svg

        _output.write_text(target, svg(report, _title(report.about)))
    if (target := targets["json"]) is not None:
        _output.write_text(target, report.json())
    if targets["json"] != _output.STDOUT:
        _print(report, markdown=markdown)


def _print(report: Report, *, markdown: bool) -> None:
    screen = _output.console()
    for table in report.tables:
        rows = [
            [row.name, f"{row.n:,}", *(format_share(row.means[name]) for name in report.shown)]
            for row in table.rows
        ]
        title = f"{report.about['dataset']}, {table.split}: {table.way}"
        head = ["questions", "n", *report.shown]
        screen.print(_output.table(title, head, rows, markdown=markdown))
        screen.print()
    for line in report.compared():
        screen.print(line)
    screen.print(_summary(report.about))


def _title(about: Any) -> str:
    model = about["space"] or "words alone"
    return f"Recall on {about['dataset']} ({about['questions']:,} questions, {model})"


def _summary(about: Any) -> str:
    return (
        f"conversations: {about['conversations']:,}; turns: {about['turns']:,}; questions:"
        f" {about['questions']:,}, and {about['left_out']:,} left out that no turn answers;"
        f" {about['space'] or 'no embeddings'}; one retrieve {about['ms_retrieve_median']:.1f} ms;"
        f" memoryware {about['memoryware']}, Python {about['python']}, {about['system']}"
    )
