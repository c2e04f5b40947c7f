"""What was named on the command line: runs, folders of runs, datasets, homes, as sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from navloom.errors import NavloomError, UsageError
from navloom.web.run_source import RunSource
from navloom.web.source import Source

_DEPTH, _MOST = 3, 500


def open_sources(
    named: Sequence[str], note: Callable[[str], None], scenes: Sequence[str] = ()
) -> list[Source]:
    """The sources of some names.

    Args:
        named: folders of runs, of studies, of both; dataset files; scenes' URIs.
        note: told of each that is passed over, in a line.
        scenes: where datasets' homes are.

    Raises:
        UsageError: nothing is there that can be looked at; NavloomError: the only one is broken.
    """
    found: list[Source] = []
    runs = [run for name in named if Path(name).is_dir() for run in _runs_in(Path(name))]
    others = [name for name in named if not Path(name).is_dir()]
    if len(runs) > _MOST:
        note(f"{len(runs)} runs: the newest {_MOST} are shown; name fewer folders to see others")
        runs = sorted(runs, key=lambda run: (run / "run.json").stat().st_mtime)[-_MOST:]
    for run in runs:
        try:
            found.append(RunSource(run))
        except NavloomError as error:
            if len(runs) + len(others) == 1:
                raise
            note(f"{run} is passed over: {error}")
    for name in others:
        found += _other(name, scenes)
    if not found:
        said = " ".join(named)
        raise UsageError(
            f"{said}: no run is here (a folder with a run.json, up to {_DEPTH} levels down), no"
            " dataset and no home: name what `--out` made, a .jsonl file, or a home such as home:4"
        )
    return found


def _runs_in(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    if (folder / "run.json").is_file():
        yield folder
    elif depth:
        inside = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
        for each in inside:
            # A link may lead out of the folder that was named.
            if each.is_dir() and not each.is_symlink():
                yield from _runs_in(each, depth - 1)


def _other(name: str, scenes: Sequence[str]) -> list[Source]:
    from navloom.web.other_sources import DatasetSource, homes_of

    if name.endswith(".jsonl"):
        return [DatasetSource(Path(name), scenes)]
    return homes_of(name)
