"""What a dataset keeps of a relay beside the paper's keys: rates, optimum, regret, time.

Names and definitions are design-wide: alpha is ``r1_rate`` of the chosen type; gain is 1 - alpha
and 1 - g_rate; regret compares with the exact best over all guarded relays of the task.
"""

from __future__ import annotations

from typing import Any

from navloom.tools.navcraft.optimum import all_relays
from navloom.tools.navcraft.relay import COLLAB_TYPES, check_collab_path_efficient
from navloom.tools.navcraft.relay_answer import RelayChoice
from navloom.tools.navcraft.schedule import schedule_relay
from navloom.tools.navcraft.task import RelayTask

__all__ = ["is_worth_it", "relay_record"]


def is_worth_it(task: RelayTask, *, strict: bool = False) -> bool:
    """Whether any guarded relay makes robot_1's own way shorter (CoNavBench 3.1.3: alpha < 1)."""
    relays = all_relays(task, strict=strict)
    solo = task.solo_metres or 0.0
    return len(relays) > 0 and float(relays.alpha.min()) * solo < task.shorter


def relay_record(
    task: RelayTask, choice: RelayChoice | None, *, strict: bool = False
) -> dict[str, Any]:
    """The record of one relay, or of the optimum alone where none was chosen.

    Args:
        task: the single-robot task.
        choice: a relay that the tool confirmed; None where the agent declined.
        strict: the stricter helper rule, for the optimum.

    Returns:
        JSON with metres, seconds (both robots at 1 m/s) and rates; floats unrounded.
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
        "regret_alpha": regret.regret_alpha if regret else None,
        "regret_g": regret.regret_g if regret else None,
        "makespan_s": schedule.makespan_s,
        "waits": schedule.waits,
        "overlap_s": schedule.overlap_s,
    }
