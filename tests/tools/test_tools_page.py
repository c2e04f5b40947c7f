"""docs/tools.md: its examples run, in order, as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 7
    names: dict[str, Any] = {}
    exec("\n".join(blocks), names)
    assert names["relays"].best("alpha").alpha < 1
    assert names["schedule"].makespan_s > 0
    assert names["around"].stops[-1].arrive >= names["second"].stops[-1].arrive
    assert len(names["tools"]) == 3
    assert len(names["agent_tools"]) == 6
    answer = names["check_collab_path_efficient"](
        names["task"], "Hallway_7", "Living_room_2", "coffee_table", "Type-A1"
    )
    assert answer["efficient"] is True
    assert len(names["guard_violations"](names["task"], "Kitchen_4", "Bedroom_8", "bed")) == 2
