"""``navloom study``: experiments on generators and navigators, one command each.

``navloom study people`` is a human study: raters fill in a form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Context

from navloom.cli import options
from navloom.cli.common import count_noun, print_json, show_dry_runs, write_page
from navloom.cli.navigation.eval import ARMS as ORACLE_ARMS
from navloom.cli.navigation.eval import LEVELS, LONG_STEPS, Episodes, Kind, check_flags, print_study
from navloom.errors import UsageError
from navloom.evals.navcraft.request import SynthRequest
from navloom.evals.navigation.request import EvalRequest
from navloom.evals.option import Opt
from navloom.evals.request import HEURISTIC, MOST, MaxReasks, MaxTurns, Model, Seed, Spec
from navloom.evals.session import Session
from navloom.models.redaction import print_err, print_out
from navloom.plugins import load_plugin

if TYPE_CHECKING:
    from navloom.evals.report.formatting import Table


@options.with_options()
def people(
    form: Annotated[
        str,
        Opt(
            "What is asked: instruction, author, relay, walk, grade, or a FILE.yaml of yours.",
            metavar="FORM",
            argument=True,
        ),
    ],
    source: Annotated[
        tuple[str, ...],
        Opt(
            "What it is asked about: the folder of a run, a dataset (.jsonl), homes such as"
            " home:0-9. author takes two.",
            metavar="SOURCE",
            argument=True,
        ),
    ],
    out: Annotated[Path, Opt("The study's folder. The same command on it goes on.", metavar="DIR")],
    raters: Annotated[int, Opt("How many people are asked.", min=1, max=500)] = 3,
    n: Annotated[
        int | None,
        Opt(
            "Items at most, drawn by lot.",
            min=1,
            max=5_000,
            shown="all there are; of homes 60, to be walked 50 a rater",
        ),
    ] = None,
    motion: Annotated[
        Literal["hops", "continuous"] | None,
        Opt(
            "Of walk: hops from place to place, or continuous: driving while keys are held.",
            metavar="MOTION",
            shown="what the form says",
        ),
    ] = None,
    answers: Annotated[
        tuple[Path, ...],
        Opt(
            "Files that forms without a server saved: their answers are taken over. Several times.",
            metavar="FILE",
        ),
    ] = (),
    one_file: Annotated[
        bool,
        Opt("Write DIR/form-NAME.html for each rater: the form as one file, without a server."),
    ] = False,
    with_licensed: options.WithLicensed = False,
    seed: Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Ask people, and measure how far they agree: a form, pseudonymous raters, a link for each.

    `navloom view DIR` serves the form to raters and shows the results. The same command on the same
    folder tells the links again.
    """
    from navloom.evals.people.people_study import prepare_study
    from navloom.evals.people.rating_form import read_form
    from navloom.evals.people.ratings_file import import_answers
    from navloom.evals.people.study_folder import read_people_study, read_rater_tokens

    def note(line: str) -> None:
        print_err(f"navloom: {line}")

    asked = read_form(form)
    if motion is not None:
        asked = asked.moving(motion)
    made = prepare_study(asked, source, out, raters=raters, n=n, seed=seed, note=note)
    if made.form.items == "walks":
        load_plugin("navloom.walks", "begin", "A study of walks", UsageError)(made)
    for path, new, whole in import_answers(out, answers) if answers else ():
        again = "" if new else ": they were there already, and nothing is doubled"
        print_err(f"{path}: {new} of {whole} lines are new{again}")
    if one_file:
        from navloom.web.offline_forms import write_forms

        for path in write_forms(made, licensed=with_licensed):
            print_err(f"wrote {path}")
    links = read_rater_tokens(out)
    counted_now = read_people_study(out).counted()
    if as_json:
        told = [
            {"rater": each.name, "items": len(each.items), "answered": len(counted_now[each.name]),
             "link": f"#rater={links[each.name]}"}
            for each in made.file.raters
        ]  # fmt: skip
        print_json({"study": str(out), "items": len(made.items), "raters": told})
        return
    for each in made.file.raters:
        done = len(counted_now[each.name])
        print_out(f"{each.name}  {done}/{len(each.items)}  .../#rater={links[each.name]}")
    print_err(f"{out}: {count_noun(len(made.items), 'items')}, {count_noun(len(links), 'raters')}")
    print_err(f"  next: navloom view {out}   gives out the links and takes the answers")


app = options.CommandApp("Answer a question about generators or navigators, or ask people.")
app.command()(people)

Arms = Annotated[
    tuple[str, ...] | None,
    Opt("Only this arm; may be given several times.", metavar="NAME", shown="all"),
]
Homes = Annotated[
    int | None, Opt("How many homes, the first of SPEC.", min=1, max=MOST, shown="all")
]
EachOrHomes = Annotated[
    int | None, Opt("Attempts of each arm.", min=1, max=MOST, shown="one a home")
]
Task = Annotated[
    Literal["r2r", "reverie", "objectnav"],
    Opt("r2r, reverie or objectnav.", metavar="TASK", argument=True),
]


@app.command()
@options.with_options("limit", "sample_id", "retry", "go_back")
def relays(
    spec: Spec,
    out: options.Study,
    session: Session,
    n_each: Annotated[int, Opt("Attempts of each model.", min=1, max=MOST)] = 200,
    model: Annotated[
        tuple[str, ...] | None,
        Opt(
            "A model; may be given several times.",
            metavar="PROVIDER/NAME",
            shown="builtin/heuristic and builtin/random",
        ),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Measure how far relays are from the optimum: gain and regret of several models."""
    from navloom.evals.navcraft.studies import study_relays

    request = SynthRequest(kind="collab", spec=spec, n=n_each, seed=seed)
    models = model or (HEURISTIC, "builtin/random")
    _show(study_relays(request, models, out, session), out)


@app.command()
@options.with_options("limit", "sample_id", "retry", "go_back")
def worth(
    spec: Spec,
    out: options.Study,
    session: Session,
    model: Annotated[
        tuple[str, ...],
        Opt(
            "A model; may be given several times. Without one, the controls alone.",
            metavar="PROVIDER/NAME",
        ),
    ] = (),
    n_each: EachOrHomes = None,
    whole: Annotated[bool, Opt("Ask models for whole answers too, as the paper does.")] = False,
    arm: Arms = None,
    seed: Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare the quality of generated tasks (plausible, varied, hard) with blind baselines.

    Every arm makes the same attempts in the same homes: rules, names drawn at random with and
    without repair, blind picks from small lists, always the first of a list, and each model with
    the blind and with the ranked list. The same command on the same folder goes on.
    """
    from navloom.evals.navcraft.studies import study_quality
    from navloom.scenes.scene_uri import list_scenes

    n = len(list_scenes(spec)) if n_each is None else n_each
    request = SynthRequest(kind="collab", spec=spec, n=n, seed=seed)
    tables = study_quality(request, model, out, session, whole=whole, only=arm or ())
    _show(tables, out, json.loads((out / "worth.json").read_bytes()) if as_json else None)


@app.command()
@options.with_options("limit", "sample_id", "retry", "go_back")
def profiles(
    spec: Spec,
    out: options.Study,
    session: Session,
    homes: Annotated[int, Opt("How many homes, the first of SPEC.", min=1)] = 20,
    model: Model = HEURISTIC,
    seed: Seed = 0,
) -> None:
    """Measure whether profiles make tasks more varied: no profile against the five roles."""
    from navloom.evals.navcraft.studies import study_profiles
    from navloom.scenes.scene_uri import list_scenes

    request = SynthRequest(kind="single", spec=spec, n=1, model=model, seed=seed)
    homes = min(homes, len(list_scenes(spec)))
    _show(study_profiles(request, homes, out, session), out)


@app.command()
@options.with_options("limit", "sample_id", "retry", "go_back", usual={"max_connections": 1})
def ablation(
    spec: Spec,
    out: options.Study,
    model: Model,
    session: Session,
    n_each: Annotated[int, Opt("Attempts of each arm.", min=1, max=MOST)] = 15,
    n_full: Annotated[int, Opt("Attempts of the full setting.", min=1, max=MOST)] = 40,
    arm: Arms = None,
    seed: Seed = 0,
) -> None:
    """Find which help a small model needs: name checks, scene, adjacency, repairs.

    Made for a night: stop it at any moment, and the same command goes on.
    """
    from navloom.evals.navcraft.studies import ARMS, study_ablation

    table = study_ablation(
        SynthRequest(kind="collab", n=1, spec=spec, model=model, seed=seed),
        out,
        n=n_each,
        n_full=n_full,
        arms=arm or tuple(ARMS),
        session=session,
    )
    _show([table], out)


@app.command()
@options.with_options("limit", "sample_id", "retry", "go_back")
def direct(
    spec: Spec,
    out: options.Study,
    model: Model,
    session: Session,
    how: options.RunMode,
    n_each: EachOrHomes = None,
    homes: Homes = None,
    arm: Arms = None,
    max_turns: MaxTurns = 12,
    max_reasks: MaxReasks = 3,
    seed: Seed = 0,
) -> None:
    """Compare generation in one answer and in two stages: five arms (CoNavBench A.13).

    Two stages with tools and without, the paper's prompts V1 and V2, and V2 with tools; beside each
    what builtin/random reaches: read, valid, idleness, coordination. The same command on the same
    folder goes on.
    """
    from navloom.evals.navcraft.direct_study import DirectStudy, study_direct
    from navloom.scenes.scene_uri import list_scenes

    asked = DirectStudy(
        spec=spec,
        model=model,
        n=n_each or min(homes or MOST, len(list_scenes(spec))),
        homes=homes,
        seed=seed,
        max_turns=max_turns,
        max_reasks=max_reasks,
        arms=arm or (),
    )
    if how.dry_run:
        show_dry_runs(asked.requests(), session, as_json=how.as_json)
        return
    tables = study_direct(asked, out, session)
    _show(tables, out, tables[0].record if how.as_json else None)


options.add_plugins(app, "study", "teams")


@app.command()
@options.with_options(*ORACLE_ARMS, *LEVELS, "sample_id", "retry", "go_back", task="r2r")
def oracle(
    context: Context,
    task: Task,
    request: EvalRequest,
    out: options.Out,
    session: Session,
    arm: Arms = None,
    as_json: options.Json = False,
) -> None:
    """Measure what help brings a navigator: run its failures again with help (VLN-MME 4.4).

    With an oracle assistant and with questions, by what the oracle knows, and with one to three
    failures as examples; beside blind arms, and the bound: an oracle that knows the path and speaks
    at every step. One run an arm and one table. The same command on the same folder goes on.
    """
    from navloom.evals.navigation.studies import ORACLE_ARMS as STUDIED
    from navloom.evals.navigation.studies import study_oracle

    check_flags(context, request, study=True)
    arms = arm or tuple(STUDIED)
    table = study_oracle(replace(request, task=task), out, session, arms)
    print_study(table, out, as_json=as_json)


@app.command()
@options.with_options(
    *(*ORACLE_ARMS, *LEVELS, "sample_id", "retry", "go_back", "agent", "model", "oracle_model"),
    *("data", "split", "subset", "physics", "waypoints", "max_questions", "oracle_budget"),
    usual={"max_steps": LONG_STEPS, "body": "VLNVERSE"},
    task="scene",
)
def bodies(
    spec: Spec,
    request: EvalRequest,
    out: options.Out,
    session: Session,
    kind: Kind = "mixed",
    n: Episodes = 100,
    arm: Arms = None,
    as_json: options.Json = False,
) -> None:
    """Measure what a body costs a navigator: slide, strict and telhop, own graph and slim one.

    The heuristic and the shortest-path navigator (VLNVerse 5.3), one run an arm and one table. On
    hops of its own a body touches nothing. The same command on the same folder goes on.
    """
    from navloom.evals.navigation.studies import PHYSICS_ARMS, study_bodies

    request = replace(request, options={"spec": spec, "kind": kind, "n": n})
    table = study_bodies(request, out, session, arm or tuple(PHYSICS_ARMS))
    print_study(table, out, as_json=as_json)


def _show(tables: Sequence[Table], out: Path, record: Any = None) -> None:
    """Print a study's tables, or its record for programs, and write its page."""
    if record is not None:
        print_json(record)
    else:
        for table in tables:
            print_out(f"{table.markdown()}\n")
    print_err(f"wrote {write_page([out], out)}")
