"""Requested properties of a relay beyond validity, so that a dataset has every kind of relay.

Without requests, generators produce one kind: the helper waits in the object's room and carries the
object all the way but a step. So each sample requests a type; for Type-A1 a relay that is faster
than robot_1 alone; mostly a helper from another room; and always a handoff on furniture that can
hold the object. The request is sampled by seed and then checked against every guarded relay of the
task. A property that no relay has is dropped and recorded as given up.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from navloom.tools.navcraft.relay import COLLAB_TYPES, CollabType, RelayChoice
from navloom.tools.navcraft.relay_optimum import RelayTable
from navloom.tools.navcraft.relay_task import RelayTask, can_hold

Types = Literal["balanced", "any", "a1", "a2"]
"""Requested types: both equally often, any, or one."""
_MOST_NAMED = 6
"""Maximum number of recommendations in a message."""
NOT_AS_ASKED = "not_as_asked"
"""Violation code of a relay that is valid but not as requested."""
_IN_A_HAND = 4
"""One in this many Type-A1 relays may have its helper start in the object's room."""
_LAST_BIT = 1e-9


class RelaySpecRecord(TypedDict, total=False):
    """JSON form of a :class:`RelaySpec`."""

    type: CollabType | None
    faster: bool
    elsewhere: bool
    min_gain: float


@dataclass(frozen=True, slots=True)
class RelaySpec:
    """Requested properties of a relay.

    Attributes:
        type: its type; None: any.
        faster: it ends before robot_1 alone would; never true for Type-A2.
        elsewhere: robot_2 does not start in the object's room.
        min_gain: least share of its route that robot_1 saves, 1 - alpha.
    """

    type: CollabType | None = None
    faster: bool = False
    elsewhere: bool = False
    min_gain: float = 0.0

    def satisfied_by(self, relays: RelayTable) -> NDArray[np.bool_]:
        """Return an (n,) mask of the relays that satisfy the wish and save robot_1 metres."""
        task, solo = relays.task, relays.task.solo_metres or 0.0
        thing = task.object_item.prompt_name
        holds = [can_hold(each.name, thing) for each in relays.transfers]
        kept = np.array(holds, dtype=np.bool_)[relays.transfer]
        kept &= relays.alpha * solo < task.shorter_bound
        kept &= relays.alpha <= 1 - self.min_gain + _LAST_BIT
        if self.type is not None:
            kept &= relays.type_index == COLLAB_TYPES.index(self.type)
        if self.faster:
            kept &= relays.g_rate * solo < task.shorter_bound
        if self.elsewhere:
            away = [each.region != task.target_region for each in relays.starts]
            kept &= np.array(away, dtype=np.bool_)[relays.start]
        return kept

    def spec_violation(
        self, task: RelayTask, choice: RelayChoice, r1_rate: float, g_rate: float
    ) -> str | None:
        """Return one sentence on how an efficient relay misses the request; None if it does not.

        Args:
            task: the single-robot task.
            choice: the relay.
            r1_rate: its rate, as the tool reports it.
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
        if self.faster and g_rate * solo >= task.shorter_bound:
            return (
                f"It is done after {g_rate * solo:.1f} s, robot_1 alone after {solo:.1f} s: it"
                " must be sooner."
            )
        return None

    def told(self, task: RelayTask) -> str:
        """Return the request in a sentence or two for a model; empty if nothing is requested."""
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

    def dropped_from(self, wish: RelaySpec) -> list[str]:
        """Return the names of the properties that ``wish`` asks for and this wish drops."""
        return [
            name
            for name in ("type", "faster", "elsewhere")
            if getattr(wish, name) and getattr(self, name) != getattr(wish, name)
        ]

    def record(self) -> RelaySpecRecord:
        """Return the wish as JSON; ``RelaySpec(**record)`` restores it."""
        return {
            "type": self.type,
            "faster": self.faster,
            "elsewhere": self.elsewhere,
            "min_gain": self.min_gain,
        }


def sample_spec(seed: int, turn: int | None = None) -> RelaySpec:
    """Sample the requested properties of a relay.

    Args:
        seed: the run's seed if ``turn`` is given, else the sample's.
        turn: the sample's index in its run. Samples 0 and 1, 2 and 3, and so on, form pairs: one of
            a pair is ``Type-A1``, the other ``Type-A2``. None: the type is random.
    """
    if turn is None:
        lot = random.Random(f"{seed}:wish")
        return _wish(lot.choice(COLLAB_TYPES), free=lot.randrange(_IN_A_HAND) == 0)
    pair, second = divmod(turn, 2)
    flip = random.Random(f"{seed}:pair:{pair}").random() < 0.5
    hand, place = divmod(pair, _IN_A_HAND)
    free = random.Random(f"{seed}:hand:{hand}").randrange(_IN_A_HAND) == place
    return _wish(COLLAB_TYPES[second ^ flip], free=free)


def _wish(kind: CollabType, *, free: bool) -> RelaySpec:
    # Only a helper that fetches (Type-A1) may start in the object's room.
    quick = kind == "Type-A1"
    return RelaySpec(kind, faster=quick, elsewhere=not (quick and free))


def feasible_spec(
    relays: RelayTable,
    wish: RelaySpec,
    *,
    types: Types,
    faster: bool = False,
    min_gain: float = 0.0,
) -> RelaySpec | None:
    """Return the wish, relaxed as little as needed for some relay to satisfy it.

    ``elsewhere`` is dropped first, then the type, and ``faster`` last. What the arguments request
    is never dropped.

    Args:
        relays: every guarded relay of the task.
        wish: the sampled wish.
        types: the allowed types.
        faster: allow only relays that end before robot_1 alone would.
        min_gain: least share of its route that robot_1 saves, 1 - alpha.

    Returns:
        The relaxed wish; None if no relay satisfies the arguments.
    """
    asked = [
        RelaySpec(each.type, each.faster or faster, each.elsewhere, min_gain)
        for each in _preferred(wish, types, faster)
    ]
    return next((each for each in asked if each.satisfied_by(relays).any()), None)


def alternative_starts(
    relays: RelayTable, kept: NDArray[np.bool_], choice: RelayChoice
) -> list[str]:
    """Return the helper starts that make this handoff and type satisfy the wish."""
    here = [(each.region, each.name) == choice[1:3] for each in relays.transfers]
    same = kept & np.array(here, dtype=np.bool_)[relays.transfer]
    same &= relays.type_index == COLLAB_TYPES.index(choice.collab_type)
    return [relays.starts[i].region for i in np.unique(relays.start[same])]


def relay_advice(relays: RelayTable, wish: RelaySpec, choice: RelayChoice) -> str:
    """Return the tool's recommendation in place of a relay that misses the request."""
    kept = wish.satisfied_by(relays)
    if starts := alternative_starts(relays, kept, choice):
        return f"robot_2 could start in: {', '.join(starts[:_MOST_NAMED])}."
    ranking = relays.ranking("alpha")
    places = dict.fromkeys(int(i) for i in relays.transfer[ranking[kept[ranking]]])
    named = [relays.transfers[i] for i in [*places][:_MOST_NAMED]]
    return f"Handoffs that do: {', '.join(f'{x.name} in {x.region}' for x in named)}."


def _preferred(wish: RelaySpec, types: Types, faster: bool) -> Sequence[RelaySpec]:
    if types == "any":
        return [RelaySpec(elsewhere=wish.elsewhere), RelaySpec()]
    a1, a2 = COLLAB_TYPES
    kinds: dict[Types, list[CollabType]] = {
        "a1": [a1],
        "a2": [a2],
        "balanced": [a1] if faster else sorted(COLLAB_TYPES, key=lambda kind: kind != wish.type),
    }
    ways = dict.fromkeys((wish.elsewhere, False))
    first = [RelaySpec(kind, kind == a1, way) for kind in kinds[types] for way in ways]
    return [*first, *(RelaySpec(a1, False, way) for way in ways if a1 in kinds[types])]
