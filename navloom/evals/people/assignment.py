"""Who is asked what, in which order: balanced, and the same again for a seed.

Each item goes to ``overlap`` raters, or to all where there are fewer, always to those who have the
least so far; lots decide between equals, so that different raters meet. Where homes are to be new
to a rater (VLNVerse D), nobody is given two items of one home.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

from navloom.evals.people.form import Form
from navloom.evals.people.study_folder import Item, Rater


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
