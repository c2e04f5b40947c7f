"""``navloom study people``: what only people know, asked of raters by a form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from navloom.cli.common import counted, print_json
from navloom.cli.options import Json, WithLicensed, takes
from navloom.errors import UsageError
from navloom.evals.option import Opt
from navloom.evals.request import Seed
from navloom.plugins import plugin
from navloom.terminal import say, tell


@takes()
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
    with_licensed: WithLicensed = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """What do people say, and how far do they agree? A form, raters by pseudonym, a link each.

    `navloom view DIR` serves the form to raters and shows the results. The same command on the same
    folder tells the links again.
    """
    from navloom.evals.people.form import read_form
    from navloom.evals.people.people_study import study_people
    from navloom.evals.people.ratings_file import take_answers
    from navloom.evals.people.study_folder import read_links, read_people

    def note(line: str) -> None:
        say(f"navloom: {line}")

    asked = read_form(form)
    if motion is not None:
        asked = asked.moving(motion)
    made = study_people(asked, source, out, raters=raters, n=n, seed=seed, note=note)
    if made.form.items == "walks":
        plugin("navloom.walks", "begin", "A study of walks", UsageError)(made)
    for path, new, whole in take_answers(out, answers) if answers else ():
        again = "" if new else ": they were there already, and nothing is doubled"
        say(f"{path}: {new} of {whole} lines are new{again}")
    if one_file:
        from navloom.web.people_file import write_forms

        for path in write_forms(made, licensed=with_licensed):
            say(f"wrote {path}")
    links = read_links(out)
    counted_now = read_people(out).counted()
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
        tell(f"{each.name}  {done}/{len(each.items)}  .../#rater={links[each.name]}")
    say(f"{out}: {counted(len(made.items), 'items')}, {counted(len(links), 'raters')}")
    say(f"  next: navloom view {out}   gives out the links and takes the answers")
