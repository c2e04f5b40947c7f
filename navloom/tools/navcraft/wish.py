"""What is asked of a relay beside being valid, so that a dataset has every kind in its share.

Left to themselves generators give one kind: the helper waits in the object's own room and brings it
all the way but a step. So each sample is asked for a type; of Type-A1 for one that is done before
robot_1 alone would be; mostly for a helper from elsewhere; and always for a handoff on furniture
that can hold the object. What is asked is drawn by the seed and settled by every guarded relay of
the errand: what none of them can be is not asked, and is recorded as given up.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from navloom.tools.navcraft.optimum import Relays
from navloom.tools.navcraft.relay import COLLAB_TYPES, CollabType, RelayChoice
from navloom.tools.navcraft.task import RelayTask, can_hold

Types = Literal["balanced", "any", "a1", "a2"]
"""Which types are asked for: both as often, whichever, or one."""
_MOST_NAMED = 6
"""Recommendations in a message."""
NOT_AS_ASKED = "not_as_asked"
"""The code of a relay that is valid and not what was asked for."""
_IN_A_HAND = 4
"""Of so many relays of Type-A1 one helper may start in the object's room, as the shortest is."""
_LAST_BIT = 1e-9


class Asked(TypedDict, total=False):
    """A wish as JSON; see :class:`Wish`."""

    type: CollabType | None
    faster: bool
    elsewhere: bool
    min_gain: float


@dataclass(frozen=True, slots=True)
class Wish:
    """What a relay should be.

    Attributes:
        type: its type; None: whichever.
        faster: it is done before robot_1 alone would be; Type-A2 never is.
        elsewhere: robot_2 does not start in the object's room.
        min_gain: what robot_1 is spared at least, 1 - alpha.
    """

    type: CollabType | None = None
    faster: bool = False
    elsewhere: bool = False
    min_gain: float = 0.0

    def kept_by(self, relays: Relays) -> NDArray[np.bool_]:
        """(n,) which relays of a task are as asked; each spares robot_1 a part of its way."""
        task, solo = relays.task, relays.task.solo_metres or 0.0
        thing = task.object_item.prompt_name
        holds = [can_hold(each.name, thing) for each in relays.transfers]
        kept = np.array(holds, dtype=np.bool_)[relays.transfer]
        kept &= relays.alpha * solo < task.shorter
        kept &= relays.alpha <= 1 - self.min_gain + _LAST_BIT
        if self.type is not None:
            kept &= relays.type_index == COLLAB_TYPES.index(self.type)
        if self.faster:
            kept &= relays.g_rate * solo < task.shorter
        if self.elsewhere:
            away = [each.region != task.target_region for each in relays.starts]
            kept &= np.array(away, dtype=np.bool_)[relays.start]
        return kept

    def why_not(
        self, task: RelayTask, choice: RelayChoice, r1_rate: float, g_rate: float
    ) -> str | None:
        """One sentence on what a relay that the tool found efficient has not of what is asked.

        Args:
            task: the single-robot task.
            choice: the relay.
            r1_rate: what the tool says of it.
            g_rate: likewise.
        """
        solo, thing = task.solo_metres or 0.0, task.object_item.prompt_name
        if not can_hold(choice.transfer_asset, thing):
            return f"A {choice.transfer_asset} holds no {thing}: choose furniture that does."
        if self.type not in (None, choice.collab_type):
            return f"{self.type} is asked for, not {choice.collab_type}."
        if self.elsewhere and choice.robot_2_start_region == task.target_region:
            return f"robot_2 may not start in {task.target_region}, where the object is."
        if r1_rate > 1 - self.min_gain + _LAST_BIT:
            most = (1 - self.min_gain) * solo
            return f"robot_1 walks {r1_rate * solo:.1f} m: at most {most:.1f} m are asked for."
        if self.faster and g_rate * solo >= task.shorter:
            return (
                f"It is done after {g_rate * solo:.1f} s, robot_1 alone after {solo:.1f} s: it"
                " must be sooner."
            )
        return None

    def told(self, task: RelayTask) -> str:
        """What a model is told to keep to, in a sentence or two; empty where nothing is asked."""
        solo, parts = task.solo_metres or 0.0, []
        if self.type is not None:
            parts.append(f"the type is {self.type}")
        if self.elsewhere:
            parts.append(f"robot_2 does not start in {task.target_region}")
        if self.faster:
            parts.append(f"it is done sooner than robot_1 alone, who takes {solo:.0f} s at 1 m/s")
        if self.min_gain:
            parts.append(f"robot_1 walks at most {(1 - self.min_gain) * solo:.1f} m")
        return f"Asked of this relay: {'; '.join(parts)}." if parts else ""

    def given_up(self, wish: Wish) -> list[str]:
        """What of a wish is not asked, by the names of the record."""
        return [
            name
            for name in ("type", "faster", "elsewhere")
            if getattr(wish, name) and getattr(self, name) != getattr(wish, name)
        ]

    def record(self) -> Asked:
        """As JSON; ``Wish(**record)`` is the wish again."""
        return {
            "type": self.type,
            "faster": self.faster,
            "elsewhere": self.elsewhere,
            "min_gain": self.min_gain,
        }


def drawn(seed: int, turn: int | None = None) -> Wish:
    """What chance asks for.

    Args:
        seed: of a run where there is a turn, else of the sample.
        turn: the sample's place in its run: two in a row are of both types. None: by lot.
    """
    if turn is None:
        lot = random.Random(f"{seed}:wish")
        return _wish(lot.choice(COLLAB_TYPES), free=lot.randrange(_IN_A_HAND) == 0)
    pair, second = divmod(turn, 2)
    flip = random.Random(f"{seed}:pair:{pair}").random() < 0.5
    hand, place = divmod(pair, _IN_A_HAND)
    free = random.Random(f"{seed}:hand:{hand}").randrange(_IN_A_HAND) == place
    return _wish(COLLAB_TYPES[second ^ flip], free=free)


def _wish(kind: CollabType, *, free: bool) -> Wish:
    # A robot that takes over has no business where the object is fetched, one that fetches may.
    quick = kind == "Type-A1"
    return Wish(kind, faster=quick, elsewhere=not (quick and free))


def settled(
    relays: Relays, wish: Wish, *, types: Types, faster: bool = False, min_gain: float = 0.0
) -> Wish | None:
    """The wish, or what is nearest to it that a relay of the errand can be.

    A start elsewhere is given up first, then the type, and being faster last. What the arguments
    ask for is never given up.

    Args:
        relays: every guarded relay of the errand.
        wish: what was drawn.
        types: which types may be.
        faster: only relays that are done before robot_1 alone would be.
        min_gain: what robot_1 is spared at least, 1 - alpha.

    Returns:
        None where no relay is as the arguments ask.
    """
    asked = [
        Wish(each.type, each.faster or faster, each.elsewhere, min_gain)
        for each in _preferred(wish, types, faster)
    ]
    return next((each for each in asked if each.kept_by(relays).any()), None)


def starts_instead(relays: Relays, kept: NDArray[np.bool_], choice: RelayChoice) -> list[str]:
    """Where robot_2 could start for a handoff of that type to be kept; none where nowhere."""
    here = [(each.region, each.name) == choice[1:3] for each in relays.transfers]
    same = kept & np.array(here, dtype=np.bool_)[relays.transfer]
    same &= relays.type_index == COLLAB_TYPES.index(choice.collab_type)
    return [relays.starts[i].region for i in np.unique(relays.start[same])]


def advice(relays: Relays, wish: Wish, choice: RelayChoice) -> str:
    """What the tool recommends instead of a relay that is not as asked."""
    kept = wish.kept_by(relays)
    if starts := starts_instead(relays, kept, choice):
        return f"robot_2 could start in: {', '.join(starts[:_MOST_NAMED])}."
    ranking = relays.ranking("alpha")
    places = dict.fromkeys(int(i) for i in relays.transfer[ranking[kept[ranking]]])
    named = [relays.transfers[i] for i in [*places][:_MOST_NAMED]]
    return f"Handoffs that do: {', '.join(f'{x.name} in {x.region}' for x in named)}."


def _preferred(wish: Wish, types: Types, faster: bool) -> Sequence[Wish]:
    if types == "any":
        return [Wish(elsewhere=wish.elsewhere), Wish()]
    a1, a2 = COLLAB_TYPES
    kinds: dict[Types, list[CollabType]] = {
        "a1": [a1],
        "a2": [a2],
        "balanced": [a1] if faster else sorted(COLLAB_TYPES, key=lambda kind: kind != wish.type),
    }
    ways = dict.fromkeys((wish.elsewhere, False))
    first = [Wish(kind, kind == a1, way) for kind in kinds[types] for way in ways]
    return [*first, *(Wish(a1, False, way) for way in ways if a1 in kinds[types])]
