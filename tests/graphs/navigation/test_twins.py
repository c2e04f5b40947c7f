"""What tells a navigator's options apart, on the scans of R2R's unseen validation split."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graphs.navigation.twins import count


@pytest.mark.slow
@pytest.mark.realdata
def test_options_can_be_told_apart_and_by_their_descriptions_alone_they_cannot(
    data_dir: Path,
) -> None:
    found = count(data_dir, "val_unseen")
    for form in ("as shown", "rounded"):
        counted = found[form]
        assert (counted.viewpoints, counted.paths) == (952, 783)
        assert counted.twins <= 0.05 * counted.viewpoints
        assert counted.twin_steps <= 0.02 * counted.steps
        assert counted.free >= 0.95 * counted.paths
    assert found["words alone"].twins > 0.4 * found["words alone"].viewpoints
