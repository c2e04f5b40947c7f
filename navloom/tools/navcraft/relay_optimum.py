"""Exact optimum over every guarded relay of a task, and the regret of a chosen relay.

A relay is a helper start, a transfer asset and a type. :func:`all_relays` computes all relays that
keep the guards at once, so the best by alpha, ``g_rate`` or makespan is exact, without a search.
Regret (how far a chosen relay is from the best) and recommendations come from the same table.

A relay saves robot_1's metres, not time. A handoff never shortens the object's path, so at equal
speeds no relay ends before the better placed of the two robots alone, and no Type-A2 before robot_1
alone. ``best_alone`` is that bound, as a rate like ``g_rate``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from navloom.tools.navcraft.relay import (
    COLLAB_TYPES,
    CollabType,
    Metres,
    RelayChoice,
    check_collab_path_efficient,
    relay_legs,
    roles_of,
)
from navloom.tools.navcraft.relay_schedule import schedule_relay
from navloom.tools.navcraft.relay_task import HelperStart, RelayTask, TransferPlace
from navloom.tools.navcraft.schedule import EVEN, Speeds

Measure = Literal["alpha", "g_rate", "makespan"]
"""``alpha`` is robot_1's share of its solo route, ``makespan`` is in seconds."""
Choice = Literal["transfer_asset", "helper_start", "collab_type"]
MEASURES: tuple[Measure, Measure, Measure] = ("alpha", "g_rate", "makespan")
_DIGITS = 9
"""Decimals to which values are compared, so that rounding errors do not break ties."""


@dataclass(frozen=True, slots=True)
class GuardedRelay:
    """One guarded relay with its measures.

    Attributes:
        robot_2_start_region: where the helper starts.
        transfer_region: where the object is handed over.
        transfer_asset: the asset it is put on, as models write it.
        transfer_asset_id: the instance meant.
        collab_type: ``"Type-A1"`` or ``"Type-A2"``.
        alpha: ``r1_rate`` of this type.
        g_rate: the time of both at one speed over the solo time.
        best_alone: the time of the better placed robot alone over the solo time; see
            :func:`best_solo_rate`.
        makespan_s: seconds until the object is on the end asset, at the given speeds.
    """

    robot_2_start_region: str
    transfer_region: str
    transfer_asset: str
    transfer_asset_id: str
    collab_type: CollabType
    alpha: float
    g_rate: float
    best_alone: float
    makespan_s: float


@dataclass(frozen=True, slots=True)
class Regret:
    """Distance of a relay from the best guarded ones (each measure's best taken separately).

    Attributes:
        best_alpha: the smallest alpha.
        best_g_rate: the smallest g_rate.
        regret_alpha: alpha minus the best alpha.
        regret_g: g_rate over the best g_rate, minus 1; None if the best is 0.
    """

    best_alpha: float
    best_g_rate: float
    regret_alpha: float
    regret_g: float | None


@dataclass(frozen=True)
class RelayTable:
    """Every guarded relay of one task, as columns of one length n.

    Attributes:
        task: the task.
        starts: the helper starts that keep the guards.
        transfers: the transfer places that keep the guards.
        start: (n,) index into ``starts``.
        transfer: (n,) index into ``transfers``.
        type_index: (n,) index into ``COLLAB_TYPES``.
        alpha: (n,) ``r1_rate``.
        g_rate: (n,) ``g_rate``.
        best_alone: (n,) ``best_alone``, never above ``g_rate``.
        makespan: (n,) seconds.
    """

    task: RelayTask
    starts: tuple[HelperStart, ...]
    transfers: tuple[TransferPlace, ...]
    start: NDArray[np.intp]
    transfer: NDArray[np.intp]
    type_index: NDArray[np.intp]
    alpha: NDArray[np.float64]
    g_rate: NDArray[np.float64]
    best_alone: NDArray[np.float64]
    makespan: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.alpha)

    def relay(self, i: int) -> GuardedRelay:
        """Return row i as a relay with names."""
        transfer = self.transfers[self.transfer[i]]
        return GuardedRelay(
            robot_2_start_region=self.starts[self.start[i]].region,
            transfer_region=transfer.region,
            transfer_asset=transfer.name,
            transfer_asset_id=transfer.item.id,
            collab_type=COLLAB_TYPES[self.type_index[i]],
            alpha=float(self.alpha[i]),
            g_rate=float(self.g_rate[i]),
            best_alone=float(self.best_alone[i]),
            makespan_s=float(self.makespan[i]),
        )

    def ranking(self, by: Measure) -> NDArray[np.intp]:
        """Return the rows, best first; ties by the other measures, then scene order."""
        column = {"alpha": self.alpha, "g_rate": self.g_rate, "makespan": self.makespan}
        others = [measure for measure in MEASURES if measure != by]
        keys = [np.round(column[measure], _DIGITS) for measure in (by, *others)]
        return np.lexsort(keys[::-1])

    def best(self, by: Measure) -> GuardedRelay | None:
        """Return the best relay by one measure; None if no relay keeps the guards."""
        return self.relay(int(self.ranking(by)[0])) if len(self) else None

    def regret(self, alpha: float, g_rate: float) -> Regret | None:
        """Return the regret of a relay with these rates; None if there is no relay."""
        if not len(self):
            return None
        best_alpha, best_g = float(self.alpha.min()), float(self.g_rate.min())
        return Regret(
            best_alpha=best_alpha,
            best_g_rate=best_g,
            regret_alpha=alpha - best_alpha,
            regret_g=g_rate / best_g - 1 if best_g > 0 else None,
        )


def all_relays(task: RelayTask, *, strict: bool = False, speeds: Speeds = EVEN) -> RelayTable:
    """Compute every guarded relay of a task.

    Args:
        task: the single-robot task.
        strict: the stricter helper rule; see :func:`navloom.tools.navcraft.relay.guard_violations`.
        speeds: the robots' speeds; they affect only the makespan.

    Returns:
        The relays in scene order (helper start, then transfer asset, then type); none if the task
        itself rules relays out.
    """
    helpers = tuple(task.fit_helpers.values())
    transfers = tuple(task.fit_transfers.values())
    meets = task.graph.distances(
        [h.anchor for h in helpers if h.anchor], [x.anchor for x in transfers if x.anchor]
    )
    allowed = np.isfinite(meets)
    if strict:
        allowed &= _strictly_allowed(task, helpers, transfers)
    start, transfer = np.nonzero(allowed)
    carried, on = _of(transfers, "from_object")[transfer], _of(transfers, "to_end")[transfer]
    to_object = _of(helpers, "to_object")[start]
    fetched = task.start_to_object + carried, to_object + carried
    come = _of(transfers, "from_start")[transfer], meets[allowed]
    alpha, g_rate, makespan = (np.empty((len(start), 2)) for _ in range(3))
    solo = task.solo_metres or math.inf
    for column, kind in enumerate(COLLAB_TYPES):
        fetch, wait, own = relay_legs(*fetched, *come, on, kind)
        fetcher, deliverer = map(speeds.of, roles_of(kind))
        alpha[:, column] = own / solo
        g_rate[:, column] = (np.maximum(fetch, wait) + on) / solo
        makespan[:, column] = np.maximum(fetch / fetcher, wait / deliverer) + on / deliverer
    return RelayTable(
        task=task,
        starts=helpers,
        transfers=transfers,
        start=np.repeat(start, 2),
        transfer=np.repeat(transfer, 2),
        type_index=np.tile(np.arange(2, dtype=np.intp), len(start)),
        alpha=alpha.ravel(),
        g_rate=g_rate.ravel(),
        best_alone=np.repeat(best_solo_rate(task, to_object), 2),
        makespan=makespan.ravel(),
    )


def best_solo_rate(task: RelayTask, to_object: Metres) -> Metres:
    """Return the better placed robot's solo time over robot_1's solo time; at most 1.

    Args:
        task: the single-robot task.
        to_object: metres from robot_2's start to the object, for one helper or an array.
    """
    solo = task.solo_metres or math.inf
    rate: Metres = np.minimum((to_object + solo - task.start_to_object) / solo, 1.0)
    return rate


def _of(
    places: tuple[HelperStart, ...] | tuple[TransferPlace, ...], what: str
) -> NDArray[np.float64]:
    return np.array([getattr(place, what) for place in places], dtype=np.float64)


def _strictly_allowed(
    task: RelayTask, helpers: tuple[HelperStart, ...], transfers: tuple[TransferPlace, ...]
) -> NDArray[np.bool_]:
    next_to_transfer = np.array(
        [[x.region in h.neighbours for x in transfers] for h in helpers], dtype=np.bool_
    ).reshape(len(helpers), len(transfers))
    next_to_target = np.array([task.target_region in h.neighbours for h in helpers], dtype=np.bool_)
    return ~next_to_transfer & ~next_to_target[:, None]


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One recommended choice, with reasons.

    Attributes:
        choice: the recommendation: a transfer asset (``"desk in Study_4"``), a region or a type.
        relay: the best relay with it.
        reasons: plain sentences.
    """

    choice: str
    relay: GuardedRelay
    reasons: tuple[str, ...]


def recommend(
    relays: RelayTable,
    what: Choice,
    *,
    by: Measure = "g_rate",
    k: int = 3,
    kept: NDArray[np.bool_] | None = None,
) -> list[Recommendation]:
    """Recommend transfer assets, helper starts or types, each with the best relay it allows.

    Args:
        relays: the result of :func:`all_relays`.
        what: what to choose.
        by: the measure to choose by.
        k: maximum number of recommendations.
        kept: (n,) mask of the relays to choose from; None: all.

    Returns:
        Different choices, best first; empty if no relay keeps the guards.
    """
    keys = {
        "transfer_asset": relays.transfer,
        "helper_start": relays.start,
        "collab_type": relays.type_index,
    }[what]
    ranking = relays.ranking(by)
    if kept is not None:
        ranking = ranking[kept[ranking]]
    firsts = np.sort(np.unique(keys[ranking], return_index=True)[1])[:k]
    found = [relays.relay(int(ranking[first])) for first in firsts]
    return [Recommendation(_choice(r, what), r, _reasons(r, relays.task)) for r in found]


def _choice(relay: GuardedRelay, what: Choice) -> str:
    if what == "transfer_asset":
        return f"{relay.transfer_asset} in {relay.transfer_region}"
    return relay.robot_2_start_region if what == "helper_start" else relay.collab_type


def _reasons(relay: GuardedRelay, task: RelayTask) -> tuple[str, ...]:
    solo = task.solo_metres or 0.0
    faster = "sooner" if relay.g_rate < 1 else "no sooner"
    return (
        f"robot_1 walks {relay.alpha * solo:.1f} m instead of {solo:.1f} m "
        f"(alpha {relay.alpha:.2f}).",
        f"At one speed the object arrives {faster} than by robot_1 alone "
        f"(g_rate {relay.g_rate:.2f}), and no sooner than by the better placed robot alone "
        f"({relay.best_alone:.2f}).",
        f"With robot_2 from {relay.robot_2_start_region} and a handoff at the "
        f"{relay.transfer_asset} in {relay.transfer_region} ({relay.collab_type}) it takes "
        f"{relay.makespan_s:.1f} s.",
    )


def relay_record(
    task: RelayTask, choice: RelayChoice | None, *, strict: bool = False
) -> dict[str, Any]:
    """Return the record of one relay, or of the optimum alone if none was chosen.

    Args:
        task: the single-robot task.
        choice: a relay that the tool confirmed; None if the agent declined.
        strict: the stricter helper rule, for the optimum.

    Returns:
        JSON with metres, seconds (both robots at 1 m/s) and rates; floats unrounded. Alpha is
        ``r1_rate`` of the chosen type, the gains are 1 - alpha and 1 - g_rate, ``best_alone`` is
        the lower bound of g_rate, and regret compares with the exact best over all guarded relays.
    """
    relays = all_relays(task, strict=strict)
    optimum = {
        "best_alpha": float(relays.alpha.min()) if len(relays) else None,
        "best_g_rate": float(relays.g_rate.min()) if len(relays) else None,
        "guarded_relays": len(relays),
    }
    if choice is None:
        return optimum
    found = check_collab_path_efficient(task, *choice, strict=strict)
    (other_type,) = (kind for kind in COLLAB_TYPES if kind != choice.collab_type)
    other = check_collab_path_efficient(task, *choice[:3], other_type, strict=strict)
    alpha, g_rate = found["r1_rate"], found["g_rate"]
    regret = relays.regret(alpha, g_rate)
    schedule = schedule_relay(task, *choice)
    return {
        **optimum,
        "robot_2_start_region": choice.robot_2_start_region,
        "transfer_asset": choice.transfer_asset,
        "transfer_asset_id": task.transfers[choice[1:3]].item.id,
        "alpha": alpha,
        "alpha_other": other.get("r1_rate"),
        "alpha_either": min(alpha, other.get("r1_rate", alpha)),
        "r1_rate": found["r1_rate"],
        "g_rate": g_rate,
        "gain_alpha": 1 - alpha,
        "gain_g": 1 - g_rate,
        "best_alone": float(best_solo_rate(task, task.helpers[choice[0]].to_object)),
        "regret_alpha": regret.regret_alpha if regret else None,
        "regret_g": regret.regret_g if regret else None,
        "makespan_s": schedule.makespan_s,
        "waits": schedule.waits,
        "overlap_s": schedule.overlap_s,
    }
