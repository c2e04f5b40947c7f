"""What the commands share: options with one name everywhere, and ways to print and to end.

A flag, its keyword in Python and its environment variable share one name: ``--max-connections``,
``max_connections=``, ``NAVLOOM_MAX_CONNECTIONS``. Only light imports at the top of this file and of
every file of commands: ``navloom --help`` reads them all.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from navloom.evals.dry import DryRun
    from navloom.evals.summary import Summary

__all__ = [
    "CALLS_PANEL",
    "LIMITS_PANEL",
    "MADE_BY",
    "PICKS_PANEL",
    "TAU_HELP",
    "CompactOption",
    "ConstrainOption",
    "DisplayOption",
    "DryRunOption",
    "JsonOption",
    "LimitOption",
    "MaxConnectionsOption",
    "ModelOption",
    "OutOption",
    "OutOrDefaultOption",
    "ProfileOption",
    "RetryOption",
    "RunArgument",
    "SampleIdOption",
    "SceneArgument",
    "SeedOption",
    "SpecArgument",
    "StrictHelperOption",
    "TauOption",
    "end_session",
    "print_json",
    "print_table",
    "run_folder",
    "say",
    "show_dry_run",
]

MADE_BY = {
    "captions": "caption",
    "judge_reasoning": "judge reasoning",
    "judge_trace": "judge trace",
    "calibrate_reasoning": "judge calibrate reasoning",
    "calibrate_injections": "judge calibrate reasoning --injections",
    "calibrate_trace": "judge calibrate trace",
}
"""Kinds of runs that only the command that made them goes on with, retries and tables."""
_MOST_ERRORS = 3
PICKS_PANEL, CALLS_PANEL, LIMITS_PANEL = "Which samples", "Calling models", "Limits"
"""Where options that most commands share stand in the help: after the command's own."""
_SPEC_HELP = (
    "Which homes: demo:, demo:NAME, hm3d:DIR, hm3d:DIR/ID, mp3d:DIR, mp3d:DIR/SCAN, capnav:DIR, a"
    " scene.json or a folder of them. Without DIR, hm3d:ID and mp3d:SCAN look in $NAVLOOM_DATA."
)

SpecArgument = Annotated[str, typer.Argument(metavar="SPEC", help=_SPEC_HELP)]
SceneArgument = Annotated[
    str,
    typer.Argument(metavar="URI", help="One home: demo:flat, hm3d:DIR/ID, a scene.json, ..."),
]
RunArgument = Annotated[
    Path, typer.Argument(metavar="RUN", help="The folder of a run, as --out made it.")
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        envvar="NAVLOOM_MODEL",
        metavar="PROVIDER/NAME",
        help="The model that thinks: builtin/heuristic needs no key; see `navloom models`. Options"
        " may follow: openai/gpt-4o-mini,temperature=0,max_tokens=500.",
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed",
        envvar="NAVLOOM_SEED",
        help="Seed of everything random; each sample's own seed is a hash of this and its id.",
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out",
        envvar="NAVLOOM_OUT",
        help="The run's folder. The same command on the same folder goes on where it stopped.",
    ),
]
OutOrDefaultOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        envvar="NAVLOOM_OUT",
        help="The run's folder. The same command on the same folder goes on where it stopped.",
        show_default="runs/NAME-HASH, the hash being that of what is asked",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit",
        envvar="NAVLOOM_LIMIT",
        min=1,
        help="Run only the first so many samples; without it the rest of the run follows.",
        rich_help_panel=PICKS_PANEL,
    ),
]
RetryOption = Annotated[
    bool,
    typer.Option(
        "--retry",
        help="Try the samples that ended in an error again.",
        rich_help_panel=PICKS_PANEL,
    ),
]
DryRunOption = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Show prompts, count the calls and bound the cost; call nobody, write nothing.",
    ),
]
SampleIdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sample-id",
        envvar="NAVLOOM_SAMPLE_ID",
        help="Run only this sample; may be given several times.",
        rich_help_panel=PICKS_PANEL,
    ),
]
MaxConnectionsOption = Annotated[
    int,
    typer.Option(
        "--max-connections",
        envvar="NAVLOOM_MAX_CONNECTIONS",
        min=1,
        max=1000,
        help="Samples under way at once. Changes the speed, never the outcome.",
        rich_help_panel=CALLS_PANEL,
    ),
]
DisplayOption = Annotated[
    Literal["rich", "plain", "none"] | None,
    typer.Option(
        "--display",
        envvar="NAVLOOM_DISPLAY",
        help="Progress on stderr; unless told, rich on a terminal and plain elsewhere.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json", envvar="NAVLOOM_JSON", help="Print the result as JSON on stdout, for programs."
    ),
]


ProfileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        envvar="NAVLOOM_PROFILE",
        help="Whom the tasks are for: the name of a role, none, all or a YAML file; may be given"
        " several times, samples take them in turn.",
    ),
]
TAU_HELP = (
    "Links between rooms that each leg of a task crosses at least; below 2 it is 2, as the paper"
    " asks."
)
TauOption = Annotated[
    int,
    typer.Option("--tau", envvar="NAVLOOM_TAU", min=1, help=TAU_HELP),
]
ConstrainOption = Annotated[
    bool,
    typer.Option(
        "--constrain/--no-constrain",
        envvar="NAVLOOM_CONSTRAIN",
        help="List the home's names in the schema that the model is held to.",
    ),
]
CompactOption = Annotated[
    bool,
    typer.Option(
        "--compact",
        envvar="NAVLOOM_COMPACT",
        help="For small models: show the home in one line a room and ask for one choice at a time;"
        " paths and sentences are filled in, and checked like any.",
    ),
]
StrictHelperOption = Annotated[
    bool,
    typer.Option(
        "--strict-helper",
        envvar="NAVLOOM_STRICT_HELPER",
        help="The helper starts next to neither the target nor the transfer region either.",
    ),
]


def say(text: str) -> None:
    """Write a line for a person, on stderr."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    """Write a result for a program, on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_table(table: Table) -> None:
    """Write a table on stdout; where that is no terminal no cell is cut to fit one."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, 400))
    console.print(table)


def run_folder(out: Path | None, name: str, asked: Any) -> Path:
    """The folder that was named, else one of its own for each request, the same for the same one.

    Args:
        out: what ``--out`` says.
        name: what the folder's name begins with.
        asked: the request, as JSON; what is no JSON counts by its text.
    """
    if out is not None:
        return out
    import json
    from hashlib import sha256

    said = json.dumps(asked, sort_keys=True, default=str)
    return Path("runs") / f"{name}-{sha256(said.encode()).hexdigest()[:10]}"


def end_session(
    summary: Summary, out: Path, *, as_json: bool = False, exports: bool = True
) -> NoReturn:
    """Say how a batch ended and leave with its exit code: 0, 2 some errors or a limit, 130.

    Args:
        summary: what ``run_batch`` returned.
        out: the run's folder.
        as_json: print the summary on stdout as JSON.
        exports: whether the run can be exported as a dataset.
    """
    from dataclasses import asdict

    if as_json:
        print_json({"run": str(out), **asdict(summary)})
    cost = "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.4g}"
    say(
        f"{out}: {summary.ok} ok, {summary.failed} failed, {summary.error} errors of"
        f" {summary.samples} samples in {summary.session_seconds:.1f} s, cost {cost}"
        + (f" ({summary.cost_note})" if summary.cost_note else "")
    )
    if summary.error:
        _say_errors(out)
    if used := _used(summary):
        say(f"  {used}")
    if summary.limit:
        say(
            f"  {summary.limit}, {summary.left} samples are left: the same command with a higher"
            " limit goes on"
        )
    elif summary.interrupted:
        say(f"  stopped with {summary.left} samples left: run the same command again to go on")
    elif summary.left:
        say(f"  {summary.left} samples are left for another session")
    elif summary.ok:
        run = shlex.quote(str(out))
        more = f"   navloom export {run} --out tasks.jsonl" if exports else ""
        say(f"  next: navloom report {run}{more}")
    elif summary.failed:
        say(f"  see why: navloom report {shlex.quote(str(out))}")
    raise typer.Exit(summary.exit_code)


def show_dry_run(
    dry: DryRun, samples: str, scenes: str, *, most: int | None = None, as_json: bool = False
) -> None:
    """Print what a run would do: prompts on stdout, calls and cost on stderr.

    Args:
        dry: what was worked out.
        samples: what its samples are called.
        scenes: what its scenes are called.
        most: how many of the prompts to print; all unless given.
        as_json: print everything on stdout as JSON.
    """
    from dataclasses import asdict

    if as_json:
        print_json(asdict(dry))
        return
    for prompt in dry.prompts[:most]:
        print(f"=== {prompt.sample}: {prompt.characters} characters, tools and schema included")
        for who, text in prompt.messages:
            print(f"--- {who}\n{text}")
    (least, most_calls), (few, many) = dry.calls, dry.input_tokens
    asked, places = _some(dry.samples, samples), _some(dry.scenes, scenes)
    say(f"{dry.model}: {asked} in {places}, nobody was called")
    say(f"  calls: {least} at least, {most_calls} at most, retries not counted")
    say(f"  tokens in: {few:,} to {many:,}, out: at most {dry.output_tokens[1]:,}")
    if dry.cost_usd is None:
        say(f"  cost: unknown, no price is known for {dry.model}")
    else:
        say(f"  cost: ${dry.cost_usd[0]:.4g} to ${dry.cost_usd[1]:.4g}")


def _some(count: int, things: str) -> str:
    return f"{count} {things if count != 1 else things.removesuffix('s')}"


def _used(summary: Summary) -> str:
    """Calls that were not made, and calls that were made again, where there are any."""
    cached, again = summary.usage.get("cached_calls", 0), summary.usage.get("retries", 0)
    said = [f"{cached} replies from the cache"] if cached else []
    said += [f"{again} attempts made again"] if again else []
    return ", ".join(said)


def _say_errors(out: Path) -> None:
    """What broke most often, so that nobody has to open a file to learn of a wrong key."""
    from collections import Counter

    from navloom.evals.run_folder import read_errors, read_run

    said = Counter(str(error.get("message")) for error in read_errors(out))
    for message, count in said.most_common(_MOST_ERRORS):
        say(f"  {count} x {message}")
    more = f"{len(said) - _MOST_ERRORS} others and " if len(said) > _MOST_ERRORS else ""
    again = f"navloom retry {shlex.quote(str(out))}"
    if str(read_run(out).get("kind")) in MADE_BY:
        again = "the same command with --retry"
    say(f"  {more}all errors are in {out / 'errors.jsonl'}; {again} tries them again")
