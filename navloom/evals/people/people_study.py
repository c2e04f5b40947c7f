"""Creation of a people study: items from a source, assignment to raters, study folder.

Each item goes to ``overlap`` raters (or to all if there are fewer), chosen by fewest items so far.
Ties are broken at random, so that different raters overlap. If homes must be new to a rater
(VLNVerse D), no rater gets two items of one home.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from navloom.errors import RunError, UsageError
from navloom.evals.people import instruction_items, rated_items, study_folder
from navloom.evals.people.rating_form import RatingForm
from navloom.files import check_writable


def assign_items(
    items: Sequence[study_folder.RatedItem], names: Sequence[str], form: RatingForm, seed: int
) -> tuple[tuple[study_folder.Rater, ...], int]:
    """Assign items to raters.

    Args:
        items: all items.
        names: the raters' pseudonyms.
        form: its ``overlap``, ``each`` and ``new_homes`` constrain the assignment.
        seed: seed of random choices.

    Returns:
        The raters with their items in random order, and the number of ratings missing from
        ``overlap`` (or all raters) for each item.
    """
    lots = random.Random(seed)
    wanted = min(form.overlap, len(names))
    room = form.each if form.each is not None else len(items)
    dealt: dict[str, list[study_folder.RatedItem]] = {name: [] for name in names}
    homes: dict[str, set[str]] = defaultdict(set)
    lacking = 0
    for item in lots.sample(list(items), len(items)):
        able = [
            name
            for name in names
            if len(dealt[name]) < room and not (form.new_homes and item.scene in homes[name])
        ]
        able.sort(key=lambda name: (len(dealt[name]), lots.random()))
        lacking += wanted - len(able[:wanted])
        for name in able[:wanted]:
            dealt[name].append(item)
            homes[name].add(item.scene)
    raters = []
    for name, mine in dealt.items():
        lots.shuffle(mine)
        raters.append(study_folder.Rater(name=name, items=tuple(each.id for each in mine)))
    return tuple(raters), lacking


Note = Callable[[str], None]
MADE = 60
"""Default number of instructions generated in homes."""


def prepare_study(
    form: RatingForm,
    sources: Sequence[str],
    out: Path,
    *,
    raters: int,
    n: int | None = None,
    seed: int = 0,
    note: Note = lambda _: None,
) -> study_folder.PeopleStudy:
    """Create a people study, or read an existing one with the same request.

    Args:
        form: the form.
        sources: source of the items; one, or two for a study of authorship.
        out: the study's folder.
        raters: number of raters.
        n: maximum number of items, drawn at random; default: all.
        seed: seed of the choice, assignment and order of items.
        note: receives a message about each item left out.

    Raises:
        UsageError: a source has nothing that the form asks about, or items and raters do not fit.
        RunError: ``out`` holds another study, or cannot be written.
    """
    asked: dict[str, Any] = {
        "form": form.model_dump(mode="json", exclude_defaults=True),
        "sources": list(sources),
        "raters": raters,
        "n": n,
        "seed": seed,
    }
    if study_folder.is_people_study(out):
        people = study_folder.read_people_study(out)
        if people.file.request != asked:
            was = people.file.request
            differs = next((key for key in asked if was.get(key) != asked[key]), "form")
            raise RunError(
                f"{out} holds another study of people (its {differs} was another): give another"
                " --out, or the same command"
            )
        return people
    check_writable(out, folder=True)
    # Generate as many instructions as the raters can rate.
    most = n or min(
        study_folder.MOST_ITEMS, (form.each or 0) * raters // min(form.overlap, raters) or MADE
    )
    form, found = _items(form, sources, n, most, seed, note)
    chosen = list(islice(found, study_folder.MOST_ITEMS + 1))
    if len(chosen) > study_folder.MOST_ITEMS:
        raise UsageError(f"over {study_folder.MOST_ITEMS:,} items: take fewer with --n")
    names = [f"rater-{number:0{len(str(raters))}}" for number in range(1, raters + 1)]
    dealt, lacking = assign_items(chosen, names, form, seed)
    if lacking:
        note(
            f"{lacking} ratings are nobody's: {raters} raters are too few for"
            f" {len(chosen)} items{', each home new to a rater' if form.new_homes else ''}"
        )
    if empty := [each.name for each in dealt if not each.items]:
        raise UsageError(
            f"{len(empty)} of {raters} raters would be asked nothing: {len(chosen)} items are too"
            " few; take fewer --raters or more items"
        )
    out.mkdir(parents=True, exist_ok=True)
    return study_folder.write_people_study(out, form, chosen, dealt, seed=seed, request=asked)


def _items(
    form: RatingForm, sources: Sequence[str], n: int | None, most: int, seed: int, note: Note
) -> tuple[RatingForm, Iterator[study_folder.RatedItem]]:
    """Return the study's form and its items, read from the sources.

    Args:
        form: the form; if it has no questions and the source is a judge run, that run's questions
            are added.
        sources: sources of the items: one, or two for a study of authorship.
        n: number of items to take, chosen by ``seed``; None takes all.
        most: maximum number of instructions to read or generate.
        seed: seed of the choice.
        note: receives a message about each item left out.
    """

    def drawn(every: Sequence[Any]) -> list[Any]:
        # Keep the order of the source.
        places = range(len(every))
        kept = sorted(random.Random(seed).sample(places, min(n, len(every))) if n else places)
        return [every[place] for place in kept]

    def told_of(source: str, most: int) -> list[Any]:
        return instruction_items.read_instructions(source, seed=seed, most=most, note=note)

    if form.items == "authors":
        said = [one for each in sources for one in told_of(each, most)]
        return form, islice(instruction_items.authorship_items(form, said, seed), n)
    if len(sources) != 1:
        raise UsageError(f"{len(sources)} sources: a study of {form.items} takes one")
    (source,) = sources
    if form.items == "grades":
        told, lines = rated_items.read_judge_run(Path(source))
        return rated_items.grade_form(form, told), rated_items.grade_items(told, drawn(lines), note)
    if form.items == "relays":
        relays = drawn(rated_items.read_relays(source, note))
        return form, rated_items.relay_items(form, relays, note)
    said = told_of(source, most)
    if form.items == "walks":
        return form, instruction_items.walk_items(form, drawn(said), note)
    return form, instruction_items.instruction_items(form, drawn(said))
