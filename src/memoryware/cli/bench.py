"""`memoryware bench ...`: measures that anyone can run again."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from memoryware.bench.datasets import Granularity, Roles
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
from memoryware.cli import showing
from memoryware.errors import DatasetRefused, SettingError

app = typer.Typer(no_args_is_help=True, help="Measure what memory is worth, on your own machine.")


@app.callback()
def group() -> None:
    """Measure what memory is worth, on your own machine."""


@app.command()
def recall(
    dataset: Annotated[Dataset, typer.Argument(help="The kind of data set.")],
    path: Annotated[
        Path, typer.Argument(help="Where it is. Of jsonl: the file of turns, or a folder.")
    ],
    *,
    embeddings: Annotated[
        str, typer.Option(help='"local", "provider:model", or "none": words alone.')
    ] = "none",
    store: Annotated[
        str | None, typer.Option(help="An empty store; by default a file that is gone afterwards.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="A folder that keeps vectors for the next run.")
    ] = None,
    lists: Annotated[
        bool, typer.Option("--lists", help="Ask words and vectors by themselves as well.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Ask for 5 and for 10 by themselves, as users do.")
    ] = False,
    split: Annotated[
        SplitChoice | None, typer.Option(help="locomo: these conversations alone.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="jsonl: the file of questions, if not beside the turns.")
    ] = None,
    roles: Annotated[Roles, typer.Option(help="longmemeval: whose turns are searched.")] = "user",
    granularity: Annotated[
        Granularity, typer.Option(help="longmemeval: what one memory is.")
    ] = "turn",
    first: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many conversations.")
    ] = None,
    json: Annotated[
        str | None, typer.Option(help='Write everything as JSON; "-" prints it, and no table.')
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Write a picture: FILE.svg.")] = None,
    each: Annotated[
        str | None, typer.Option(help="Write a line of JSON for each question, with ranks.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables as Markdown.")] = False,
) -> None:
    """Measure how much of what answers a question comes back, without a language model.

    Exit codes: 0 done, 1 a store or model failed, 2 wrong call, 3 the data cannot be read.
    """
    _check(path, json=json, plot=plot, each=each)
    planned = plan(
        dataset,
        path,
        split=split,
        questions=questions,
        roles=roles,
        granularity=granularity,
        first=first,
    )
    alone = (CURVE[:-1] if plot else EXACT) if exact else ()
    with showing.progress(dataset, planned.questions) as step:
        measured = measure(
            planned.conversations,
            planned.scoring,
            store=store,
            embeddings=None if embeddings == "none" else embeddings,
            cache=cache,
            alone=alone,
            lists=lists,
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
    }
    report = Report.of(measured, planned.scoring, splits=planned.splits, about=about)
    _show(report, measured, json=json, plot=plot, each=each, markdown=markdown)


def _check(path: Path, **targets: str | None) -> None:
    """Refuse before a long run what would fail at its end."""
    if not path.exists():
        raise DatasetRefused(str(path), "there is no such file or folder")
    for name, suffix in (("json", ""), ("plot", ".svg"), ("each", "")):
        showing.check_target(f"--{name}", targets[name], suffix)
    if targets["plot"] is not None and find_spec("matplotlib") is None:
        raise SettingError("--plot needs matplotlib: pip install 'memoryware[bench]'")


def _show(report: Report, measured: Measurement, *, markdown: bool, **targets: str | None) -> None:
    if not report.tables or not measured.scored:
        raise SettingError("no question has an answer in these conversations: nothing to measure")
    if (target := targets["each"]) is not None:
        showing.write(target, "\n".join(json_lines(measured.scored)))
    if (target := targets["plot"]) is not None:
        from memoryware.bench.plot import svg

        showing.write(target, svg(report, _title(report.about)))
    if (target := targets["json"]) is not None:
        showing.write(target, report.json())
    if targets["json"] != showing.STDOUT:
        _print(report, markdown=markdown)


def _print(report: Report, *, markdown: bool) -> None:
    screen = showing.screen()
    for one in report.tables:
        rows = [
            [row.name, f"{row.n:,}", *(format_share(row.means[name]) for name in report.shown)]
            for row in one.rows
        ]
        title = f"{report.about['dataset']}, {one.split}: {one.way}"
        head = ["questions", "n", *report.shown]
        screen.print(showing.table(title, head, rows, markdown=markdown))
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
