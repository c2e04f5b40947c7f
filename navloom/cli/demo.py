"""``navloom demo``: the whole workflow in generated homes, without an API key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from navloom.cli.common import end_session, show_blocks, write_page
from navloom.cli.options import CommandApp, with_options
from navloom.evals.option import Opt
from navloom.evals.progress import DisplayName
from navloom.models.redaction import print_err

app = CommandApp()

ERRANDS, HOMES = 120, 12


@app.command()
@with_options()
def demo(
    out: Annotated[
        Path, Opt("Where to put the runs, the dataset and the pictures.", metavar="DIR", env="")
    ] = Path("demo"),
    display: Annotated[
        DisplayName | None, Opt("Progress on stderr.", shown="rich on a terminal, else plain")
    ] = None,
) -> None:
    """Generate single-robot tasks and relays in twelve homes, check them, and write a report.

    The generator is builtin/heuristic, a rule-based baseline in the place of a language model: the
    same commands with --model openai/gpt-4o-mini use one.
    """
    from navloom.errors import NavloomError
    from navloom.evals.navcraft.dataset_check import check_dataset
    from navloom.evals.navcraft.export import export_run
    from navloom.evals.navcraft.request import SynthRequest
    from navloom.evals.navcraft.results import write_report
    from navloom.evals.progress import make_display
    from navloom.evals.runner import run_request
    from navloom.evals.session import Session
    from navloom.prompts.navcraft.profiles import user_profile_names

    run, tasks = out / "run", out / "tasks.jsonl"
    print_err(
        f"1. {ERRANDS} errands in {HOMES} homes (NavCraft-S), each lifted to a relay (NavCraft-C)"
    )
    spec = f"home:0-{HOMES - 1}"
    asked = SynthRequest(kind="collab", spec=spec, n=ERRANDS, profile=user_profile_names())
    made = run_request(asked, run, Session(display=make_display(display)))
    if made.interrupted or made.error:
        end_session(made, run)
    print_err("2. a dataset, checked against its schema and its homes")
    export_run(run, tasks)
    checked = check_dataset(tasks)
    print_err(f"   {checked.summary}")
    if checked.findings:
        raise NavloomError(f"the dataset is not valid: {checked.findings[0].text(tasks)}")
    print_err("3. a report")
    told = write_report([run], out)
    page = write_page([run], out, shown=told)
    show_blocks(told)
    print_err("look at:")
    for path in (page, *told.files, tasks):
        print_err(f"   {path}")
