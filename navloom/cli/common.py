"""Helpers shared by the commands: print results and end. Heavy imports are inside functions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from navloom.models.redaction import print_err, print_out, printable_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from navloom.cli.options import RunMode
    from navloom.evals.progress import Summary
    from navloom.evals.report.formatting import Table
    from navloom.evals.request import RunRequest
    from navloom.evals.run_kinds import CommandOutput
    from navloom.evals.session import Session
    from navloom.scenes.plan_sheet import PlanSheet
    from navloom.scenes.scene import Scene

_MOST_ERRORS = 3


def print_json(value: Any) -> None:
    """Print a result as JSON on stdout, for programs."""
    print_out(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(table: Table, *, of_words: bool = False) -> None:
    """Print a table on stdout, as wide as the terminal, without its note and without cutting cells.

    Args:
        table: the table; its first column, with the names of the rows, is not wrapped.
        of_words: wrap at 80 columns, or at COLUMNS, even without a terminal. Else rows stay on one
            line there, for programs that read lines.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    console = Console()
    if not console.is_terminal and not of_words:
        console = Console(width=max(console.width, 400))
    title = escape(printable_text(table.title))
    shown = RichTable(box=None, padding=(0, 2, 0, 0), title=title, title_style="bold")
    shown.pad_edge, shown.title_justify = False, "left"
    for at, name in enumerate(table.header):
        cells = [row[at] for row in table.rows if at < len(row)]
        numbers = at and not any(each[:1].isalpha() for each in cells)
        shown.add_column(
            escape(printable_text(name)),
            justify="right" if numbers else "left",
            overflow="fold",
            no_wrap=not at,
        )
    for row in table.rows:
        shown.add_row(*(escape(printable_text(cell)) for cell in row))
    console.print(shown)


def load_homes(uris: Iterable[str]) -> Iterator[Scene]:
    """Yield the homes that can be loaded; report on stderr those that cannot."""
    from navloom.errors import SceneError
    from navloom.scenes.scene_uri import load_scene

    for uri in uris:
        try:
            yield load_scene(uri)
        except SceneError as error:
            print_err(f"navloom: skipped {uri}: {error}")


def save_png(data: bytes, path: Path) -> None:
    """Write PNG data to a file, and make its folder.

    Raises:
        UsageError: it cannot be written, or the name does not end in .png.
    """
    from navloom.errors import UsageError
    from navloom.files import replace_file

    if path.suffix.casefold() != ".png":
        raise UsageError(f"cannot draw to {path}: expected a name that ends in .png")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise UsageError(f"cannot draw to {path}: {error}") from error
    print_err(f"drew {path}")


def save_figure(figure: Figure | PlanSheet, path: Path) -> None:
    """Write a figure to a file, and make its folder.

    Raises:
        UsageError: it cannot be written there or in that format.
    """
    from navloom.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=figure.dpi)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot draw to {path}: {error}") from error
    print_err(f"drew {path}")


def pick_run_folder(out: Path | None, name: str, request: RunRequest) -> Path:
    """Return the named folder, else one derived from the request: the same for the same one.

    Args:
        out: the value of ``--out``.
        name: prefix of the folder's name.
        request: hashed into the name; values that are not JSON count by their text.
    """
    if out is not None:
        return out
    from hashlib import sha256

    said = json.dumps([request.record(), request.where()], sort_keys=True, default=str)
    return Path("runs") / f"{name}-{sha256(said.encode()).hexdigest()[:10]}"


def end_session(summary: Summary, out: Path, *, as_json: bool = False) -> NoReturn:
    """Print how a session ended, and leave with its exit code: 0, 2 some errors or a limit, 130.

    Args:
        summary: its totals.
        out: the run's folder.
        as_json: print the summary on stdout as JSON.
    """
    from navloom.evals.run_kinds import kind_of

    if as_json:
        print_json({"run": str(out), **summary.record()})
    cost = "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.4g}"
    print_err(
        f"{out}: {summary.ok} ok, {summary.failed} failed, {summary.error} errors of"
        f" {summary.samples} samples in {summary.session_seconds:.1f} s, cost {cost}"
        + (f" ({summary.cost_note})" if summary.cost_note else "")
    )
    if summary.error:
        _say_errors(out)
    cached, again = summary.usage.get("cached_calls", 0), summary.usage.get("retries", 0)
    used = [f"{cached} replies from the cache"] if cached else []
    used += [f"{again} attempts made again"] if again else []
    if used:
        print_err(f"  {', '.join(used)}")
    if summary.limit:
        print_err(
            f"  {summary.limit}, {summary.left} samples are left: the same command with a higher"
            " limit goes on"
        )
    elif summary.interrupted:
        print_err(
            f"  stopped with {summary.left} samples left: run the same command again to go on"
        )
    elif summary.left:
        print_err(f"  {summary.left} samples are left for another session")
    elif (kind := kind_of(out)).report is None:
        print_err(f"  `navloom {kind.command}` on the same folder shows what it holds")
    elif summary.ok:
        run = shlex.quote(str(out))
        more = f"   navloom export {run} --out tasks.jsonl" if kind.export else ""
        print_err(f"  next: navloom report {run}{more}")
    elif summary.failed:
        print_err(f"  see why: navloom report {shlex.quote(str(out))}")
    raise typer.Exit(summary.exit_code)


def run_request(
    request: RunRequest,
    out: Path,
    session: Session,
    how: RunMode,
    *,
    ended: Callable[[Path, Summary], CommandOutput] | None = None,
) -> None:
    """Run a request, print its results and leave with its exit code; or show a dry run.

    Args:
        request: the request.
        out: the run's folder.
        session: the execution settings.
        how: dry run and output format.
        ended: returns the results to show, in place of the kind's own function.
    """
    from navloom.evals.run_kinds import get_kind
    from navloom.evals.runner import run_request

    if how.dry_run:
        show_dry_run(request, session, as_json=how.as_json)
        return
    kind = get_kind(request.kind)
    summary = run_request(request, out, session)
    shown = (ended or kind.ended)(out, summary)
    if not how.as_json:
        show_blocks(shown)
    for line in shown.lines:
        print_err(line)
    end_session(summary, out, as_json=how.as_json)


def show_blocks(shown: CommandOutput) -> None:
    """Print report blocks on stdout, and their notes on stderr."""
    from navloom.evals.report.report_files import blocks_to_markdown, terminal_screen

    for part in (
        [blocks_to_markdown(shown.blocks)] if shown.whole else terminal_screen(shown.blocks)
    ):
        if isinstance(part, str):
            print_out(part, end="")
        else:
            print_table(part)
    for note in shown.notes:
        print_err(note)


def write_page(
    folders: Sequence[Path],
    out: Path,
    *,
    shown: CommandOutput | None = None,
    licensed: bool = False,
) -> Path:
    """Write ``report.html`` of runs, a study or mends; say on stderr what is left out.

    Args:
        folders: folders of the runs, the study or the mends.
        out: the folder to write to.
        shown: the report of the runs by their kind.
        licensed: whether to include data that scene licences restrict.

    Raises:
        RunError: a folder cannot be read, or nothing can be written.
    """
    from navloom.web.report_page import write_report_page

    def note(line: str) -> None:
        print_err(f"navloom: {line}")

    return write_report_page(folders, out, note, shown=shown, licensed=licensed)


def show_dry_run(request: RunRequest, session: Session, *, as_json: bool = False) -> None:
    """Print prompts of a dry run on stdout, and its calls and cost on stderr.

    Args:
        request: the request.
        session: selects the samples.
        as_json: print everything on stdout as JSON.
    """
    from dataclasses import asdict

    from navloom.evals.dry_run import dry_run
    from navloom.evals.run_kinds import get_kind

    dry, kind = dry_run(request, session), get_kind(request.kind)
    if as_json:
        print_json(asdict(dry))
        return
    for prompt in dry.prompts[: kind.prompts_shown]:
        print_out(f"=== {prompt.sample}: {prompt.characters} characters, tools and schema included")
        for who, text in prompt.messages:
            print_out(f"--- {who}\n{text}")
    (least, most_calls), (few, many) = dry.calls, dry.input_tokens
    asked, places = count_noun(dry.samples, kind.things[0]), count_noun(dry.scenes, kind.things[1])
    print_err(f"{dry.model}: {asked} in {places}, nobody was called")
    print_err(f"  calls: {least} at least, {most_calls} at most, retries not counted")
    print_err(f"  tokens in: {few:,} to {many:,}, out: at most {dry.output_tokens[1]:,}")
    if dry.cost_usd is None:
        print_err(f"  cost: unknown, no price is known for {dry.model}")
    else:
        print_err(f"  cost: ${dry.cost_usd[0]:.4g} to ${dry.cost_usd[1]:.4g}")


def show_dry_runs(
    requests: Mapping[str, RunRequest], session: Session, *, as_json: bool = False
) -> None:
    """Print the dry run of each arm of a study, under the arm's name.

    Args:
        requests: the request of each arm.
        session: the execution settings.
        as_json: print everything on stdout as JSON, by arm.
    """
    from dataclasses import asdict

    from navloom.evals.dry_run import dry_run

    if as_json:
        print_json({name: asdict(dry_run(each, session)) for name, each in requests.items()})
        return
    for name, request in requests.items():
        print_err(f"== {name}")
        show_dry_run(request, session)


def count_noun(count: int, things: str) -> str:
    """Return a count with its noun: 1 home, 2 homes."""
    return f"{count} {things if count != 1 else things.removesuffix('s')}"


def _say_errors(out: Path) -> None:
    """Print the most frequent errors, so that a wrong key shows without opening a file."""
    from collections import Counter

    from navloom.evals.run_folder import read_errors

    said = Counter(str(error.get("message")) for error in read_errors(out))
    for message, count in said.most_common(_MOST_ERRORS):
        print_err(f"  {count} x {message}")
    more = f"{len(said) - _MOST_ERRORS} others and " if len(said) > _MOST_ERRORS else ""
    again = f"navloom retry {shlex.quote(str(out))}"
    print_err(f"  {more}all errors are in {out / 'errors.jsonl'}; {again} tries them again")
