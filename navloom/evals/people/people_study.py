"""A people's study from a form and a source: its items, its raters, its folder.

Each item goes to ``overlap`` raters, or to all where there are fewer, always to those who have the
least so far; lots decide between equals, so that different raters meet. Where homes are to be new
to a rater (VLNVerse D), nobody is given two items of one home.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from navloom.errors import RunError, UsageError
from navloom.evals.people.form import Form
from navloom.evals.people.instruction_items import (
    author_items,
    instruction_items,
    read_instructions,
    walk_items,
)
from navloom.evals.people.rated_items import (
    grade_form,
    grade_items,
    read_judged,
    read_relays,
    relay_items,
)
from navloom.evals.people.study_folder import (
    MOST_ITEMS,
    Item,
    People,
    Rater,
    is_people,
    make_people,
    read_people,
)
from navloom.files import check_place


def assign(
    items: Sequence[Item], names: Sequence[str], form: Form, seed: int
) -> tuple[tuple[Rater, ...], int]:
    """Deal items out to raters.

    Args:
        items: all there are.
        names: the raters' pseudonyms.
        form: how many raters an item and items a rater, and whether homes are new.
        seed: of the lots.

    Returns:
        The raters with their items in their order, and how many ratings are lacking of
        ``overlap`` (or of all raters, where these are fewer) an item, for want of raters.
    """
    lots = random.Random(seed)
    wanted = min(form.overlap, len(names))
    room = form.each if form.each is not None else len(items)
    dealt: dict[str, list[Item]] = {name: [] for name in names}
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
        raters.append(Rater(name=name, items=tuple(each.id for each in mine)))
    return tuple(raters), lacking


Note = Callable[[str], None]
MADE = 60
"""Instructions that are made of homes, unless it is said how many."""


def study_people(
    form: Form,
    sources: Sequence[str],
    out: Path,
    *,
    raters: int,
    n: int | None = None,
    seed: int = 0,
    note: Note = lambda _: None,
) -> People:
    """Make a study, or read the one that is there, where it is the same.

    Args:
        form: what is shown and asked.
        sources: what it is asked about; one, but for writers two.
        out: the study's folder.
        raters: how many there are.
        n: items at most, drawn by lot; all unless given.
        seed: of which items, who is asked what, and in which order.
        note: told of what is left out.

    Raises:
        UsageError: a source holds nothing that the form asks about.
        RunError: ``out`` is another study's, or cannot be written.
    """
    asked: dict[str, Any] = {
        "form": form.model_dump(mode="json", exclude_defaults=True),
        "sources": list(sources),
        "raters": raters,
        "n": n,
        "seed": seed,
    }
    if is_people(out):
        people = read_people(out)
        if people.file.request != asked:
            was = people.file.request
            differs = next((key for key in asked if was.get(key) != asked[key]), "form")
            raise RunError(
                f"{out} holds another study of people (its {differs} was another): give another"
                " --out, or the same command"
            )
        return people
    check_place(out, folder=True)
    # Of homes as many are made as the raters can be asked about.
    most = n or min(MOST_ITEMS, (form.each or 0) * raters // min(form.overlap, raters) or MADE)
    form, found = _items(form, sources, n, most, seed, note)
    chosen = list(islice(found, MOST_ITEMS + 1))
    if len(chosen) > MOST_ITEMS:
        raise UsageError(f"over {MOST_ITEMS:,} items: take fewer with --n")
    names = [f"rater-{number:0{len(str(raters))}}" for number in range(1, raters + 1)]
    dealt, lacking = assign(chosen, names, form, seed)
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
    return make_people(out, form, chosen, dealt, seed=seed, request=asked)


def _items(
    form: Form, sources: Sequence[str], n: int | None, most: int, seed: int, note: Note
) -> tuple[Form, Iterator[Item]]:
    """The form as it is asked, and the items; which are taken is drawn by lot."""

    def drawn(every: Sequence[Any]) -> list[Any]:
        # In the order of the source: which of two came first says nothing to a rater.
        places = range(len(every))
        kept = sorted(random.Random(seed).sample(places, min(n, len(every))) if n else places)
        return [every[place] for place in kept]

    def told_of(source: str, most: int) -> list[Any]:
        return read_instructions(source, seed=seed, most=most, note=note)

    if form.items == "authors":
        said = [one for each in sources for one in told_of(each, most)]
        return form, islice(author_items(form, said, seed), n)
    if len(sources) != 1:
        raise UsageError(f"{len(sources)} sources: a study of {form.items} takes one")
    (source,) = sources
    if form.items == "grades":
        told, lines = read_judged(Path(source))
        return grade_form(form, told), grade_items(told, drawn(lines), note)
    if form.items == "relays":
        return form, relay_items(form, drawn(read_relays(source, note)), note)
    said = told_of(source, most)
    if form.items == "walks":
        return form, walk_items(form, drawn(said), note)
    return form, instruction_items(form, drawn(said))
