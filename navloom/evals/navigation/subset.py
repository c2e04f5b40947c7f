"""Representative subsets of a dataset split (VLN-MME 3.2), stored as small index files.

Strata are the scans. Within a scan, paths are sampled in proportion from bins of path length, and
one instruction of each path at random. A dataset with categories is balanced over them first.
Shares are rounded together (:mod:`navloom.evals.quota`), so that each scan, each bin and each pair
of them gets the number just below or above its exact share.

An index file holds ids and their source, but no text of the dataset itself.

The distance of a subset to its split is the total variation of two distributions: half the sum of
the absolute differences of shares, 0 for equal and 1 for disjoint distributions.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from navloom.errors import DataError, RunError, SceneError, UsageError
from navloom.evals.quota import equal_shares, proportional_shares
from navloom.evals.report.blocks import Bars, Scatter
from navloom.evals.report.formatting import Table, percent
from navloom.evals.run_folder import read_run, read_samples
from navloom.evals.tasks.episode import Episode, TaskData
from navloom.files import write_run_file
from navloom.scenes.safe_files import read_json

BINS = 5
_MOST_BYTES = 64_000_000
_SHOWN = 3
_Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+=@-]{0,199}$")]
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SubsetIndex(BaseModel):
    """Content of the index file of a subset."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal["navloom.subset/1"] = "navloom.subset/1"
    task: Annotated[str, Field(min_length=1, max_length=100)]
    split: Annotated[str, Field(min_length=1, max_length=100)]
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options that the dataset was loaded with."""
    method: Literal["stratified", "failed-by"] = "stratified"
    seed: int = 0
    bins: Annotated[int, Field(ge=1, le=1000)] = BINS
    """Number of bins of path length."""
    of: Annotated[int, Field(ge=1)]
    """Number of episodes it was drawn from."""
    of_sha256: _Sha256
    """Hash of the ids it was drawn from; see :func:`hash_ids`."""
    sha256: _Sha256
    """Hash of the ids in it."""
    runs: tuple[str, ...] = ()
    """Names of the runs that failed on all its episodes, for the method ``failed-by``."""
    ids: Annotated[tuple[_Id, ...], Field(min_length=1, max_length=2_000_000)]
    """Episode ids in the dataset's order."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(set(self.ids)) != len(self.ids):
            twice = Counter(self.ids).most_common(1)[0][0]
            raise ValueError(f"ids: expected each once, and '{twice}' stands twice")
        if hash_ids(self.ids) != self.sha256:
            raise ValueError("sha256: it is not that of the ids, so the file was changed by hand")
        return self

    def pick(self, data: TaskData) -> TaskData:
        """Return the dataset reduced to the subset's episodes, in the dataset's order.

        Raises:
            DataError: the task or split differs, or some ids are not in the dataset.
        """
        if (data.task, data.split) != (self.task, self.split):
            raise DataError(
                f"the subset is of {self.task} {self.split}, and what was loaded is {data.task} "
                f"{data.split}: load the subset's own."
            )
        there = {episode.id for episode in data.episodes}
        missing = [name for name in self.ids if name not in there]
        if missing:
            raise DataError(
                f"{len(missing)} of the subset's {len(self.ids)} ids are not in {data.task} "
                f"{data.split}, such as {', '.join(missing[:_SHOWN])}: expected the files and "
                f"options it was made from{_said(self.options)}."
            )
        wanted = set(self.ids)
        episodes = tuple(episode for episode in data.episodes if episode.id in wanted)
        scenes = {episode.scene: data.scenes[episode.scene] for episode in episodes}
        note = f"A subset of {len(episodes)} of {len(there)} episodes ({self.method})."
        notes = (*data.notes, note)
        return replace(data, episodes=episodes, scenes=scenes, notes=notes)


_SUBSET = TypeAdapter(SubsetIndex)


def hash_ids(ids: Sequence[str]) -> str:
    """Return the SHA-256 of ids in their order, as hexadecimal digits."""
    return sha256("\n".join(ids).encode()).hexdigest()


def path_key(episode: Episode) -> tuple[str, str]:
    """Return the key that all instructions of one path share: scene and item."""
    return episode.scene, str(episode.columns.get("item", episode.id))


def episode_length(episode: Episode) -> float:
    """Return an episode's path length in metres, or in hops if metres are not recorded."""
    metres = episode.columns.get("path_metres")
    return float(metres if isinstance(metres, int | float) else max(0, len(episode.path) - 1))


def bin_edges(episodes: Sequence[Episode], bins: int) -> list[float]:
    """Return the edges between bins of path length: quantiles over paths.

    Returns:
        At most ``bins - 1`` rising lengths. A length equal to an edge is in the bin above it.
    """
    lengths = [episode_length(each) for each in {path_key(e): e for e in episodes}.values()]
    cuts = np.quantile(lengths, np.linspace(0, 1, bins + 1)[1:-1])
    return sorted({round(float(cut), 4) for cut in cuts if min(lengths) < cut})


def build_subset(
    data: TaskData,
    n: int,
    *,
    seed: int = 0,
    bins: int = BINS,
    options: Mapping[str, Any] | None = None,
    runs: Sequence[str] = (),
) -> SubsetIndex:
    """Sample a stratified subset: n paths, with one instruction of each.

    Args:
        data: the whole split.
        n: number of episodes.
        seed: seed of all draws.
        bins: number of bins of path length.
        options: options that the dataset was loaded with, stored in the index.
        runs: runs that failed on all of ``data``, if it was selected so; stored in the index.

    Raises:
        UsageError: n or bins is not positive, or there are fewer paths than n.
    """
    items: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in data.episodes:
        items[path_key(episode)].append(episode)
    if not 1 <= n <= len(items) or bins < 1:
        raise UsageError(
            f"a subset of {n} episodes in {bins} bins: {data.task} {data.split} has {len(items)} "
            f"paths, and one instruction of each is taken, so expected 1 to {len(items)} and at "
            "least 1 bin."
        )
    rng = np.random.default_rng(seed)
    by_category: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for item, episodes in items.items():
        by_category[episodes[0].category or ""].append(item)
    groups = dict(sorted(by_category.items()))
    chosen: set[str] = set()
    sizes = [len(groups[category]) for category in groups]
    for category, share in zip(groups, equal_shares(n, sizes), strict=True):
        for item in _strata(groups[category], items, share, bins, rng):
            among = items[item]
            chosen.add(among[int(rng.integers(len(among)))].id)
    return _subset(data, chosen, seed=seed, bins=bins, options=options, runs=tuple(runs))


def failed_subset(
    data: TaskData,
    ids: Sequence[str],
    *,
    runs: Sequence[str],
    options: Mapping[str, Any] | None = None,
) -> SubsetIndex:
    """Return an index of the given episodes, selected because every one of the runs failed on them.

    Args:
        data: the whole split.
        ids: ids of these episodes.
        runs: names of the runs, stored in the index.
        options: options that the dataset was loaded with, stored in the index.

    Raises:
        DataError: there are no ids, or some are not in the dataset.
    """
    missing = sorted(set(ids) - {episode.id for episode in data.episodes})
    if missing or not ids:
        said = f"'{missing[0]}' is not one" if missing else "there is none"
        raise DataError(f"expected episodes of {data.task} {data.split}, and {said}.")
    return _subset(data, set(ids), runs=tuple(runs), options=options)


def save_subset(subset: SubsetIndex, path: Path) -> Path:
    """Write an index file in one atomic step.

    Raises:
        RunError: the file cannot be written.
    """
    text = json.dumps(subset.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make the folder of {path}: {error.strerror}") from error
    return write_run_file(path, text.encode())


def load_subset(path: Path | str) -> SubsetIndex:
    """Read an index file.

    Raises:
        DataError: the file is missing, broken or edited; the message says where.
    """
    file = Path(path).expanduser()
    try:
        return read_json(file, _SUBSET, most=_MOST_BYTES)
    except SceneError as error:
        raise DataError(
            f"{str(error).removesuffix('.')}; expected a file that `navloom subset` wrote."
        ) from error


def _strata(
    group: Sequence[tuple[str, str]],
    items: Mapping[tuple[str, str], Sequence[Episode]],
    share: int,
    bins: int,
    rng: np.random.Generator,
) -> list[tuple[str, str]]:
    """Sample ``share`` items of a group, in proportion over scans and bins of path length."""
    scans = sorted({scan for scan, _ in group})
    edges = bin_edges([items[item][0] for item in group], bins)
    cells: dict[tuple[int, int], list[tuple[str, str]]] = defaultdict(list)
    for item in group:
        place = int(np.searchsorted(edges, episode_length(items[item][0]), side="right"))
        cells[scans.index(item[0]), place].append(item)
    sizes = np.zeros((len(scans), len(edges) + 1), dtype=np.int64)
    for cell, members in cells.items():
        sizes[cell] = len(members)
    shares = proportional_shares(share, sizes, rng)
    taken = []
    for cell in sorted(cells):
        drawn = rng.permutation(len(cells[cell]))[: shares[cell]]
        taken += [cells[cell][int(i)] for i in sorted(drawn)]
    return taken


def _subset(data: TaskData, chosen: set[str], **said: Any) -> SubsetIndex:
    ids = tuple(episode.id for episode in data.episodes if episode.id in chosen)
    said["options"] = said.get("options") or {}
    return SubsetIndex(
        task=data.task,
        split=data.split,
        of=len(data.episodes),
        of_sha256=hash_ids([episode.id for episode in data.episodes]),
        sha256=hash_ids(ids),
        ids=ids,
        method="failed-by" if said["runs"] else "stratified",
        **said,
    )


def _said(options: Mapping[str, Any]) -> str:
    if not options:
        return ""
    return f" ({', '.join(f'{key} {value}' for key, value in sorted(options.items()))})"


@dataclass(frozen=True)
class CommonFailures:
    """Episodes that every one of some runs failed on.

    Attributes:
        task: task of the runs.
        split: split of the task.
        options: options that the dataset was loaded with.
        data: folder of the dataset in the first run; None if not recorded.
        ids: ids of the episodes, sorted.
        finished: number of episodes that every run has finished.
        left_out: number of episodes that some runs, but not all, have finished.
    """

    task: str
    split: str
    options: Mapping[str, Any]
    data: str | None
    ids: tuple[str, ...]
    finished: int
    left_out: int


def read_failures(runs: Sequence[Path]) -> CommonFailures:
    """Read the episodes that every run failed on.

    Args:
        runs: folders of one or more runs of `navloom eval`.

    Raises:
        RunError: a folder is not such a run, or is broken.
        UsageError: there are no runs, or their tasks, splits or options differ.
    """
    if not runs:
        raise UsageError("no run was given: say which with --failed-by RUN")
    asked = [_asked(run) for run in runs]
    for run, other in zip(runs[1:], asked[1:], strict=True):
        for name in ("task", "split", "options"):
            if other[name] != asked[0][name]:
                raise UsageError(
                    f"{runs[0]} and {run} are over different episodes: {name} "
                    f"{asked[0][name] or 'default'} and {other[name] or 'default'}."
                    " Give runs of one task and one split."
                )
    ended = [_ended(run) for run in runs]
    by_all = set.intersection(*(set(each) for each in ended))
    by_any = set.union(*(set(each) for each in ended))
    ids = sorted(name for name in by_all if all(each[name] for each in ended))
    return CommonFailures(
        **asked[0], ids=tuple(ids), finished=len(by_all), left_out=len(by_any) - len(by_all)
    )


def _asked(run: Path) -> dict[str, Any]:
    record = read_run(run)
    request, where = record["request"], record.get("where") or {}
    task, split = request.get("task"), request.get("split")
    if not isinstance(task, str) or not isinstance(split, str):
        raise RunError(
            f"{run} is no run of `navloom eval`: its request names no task and split."
            " Give a folder that `navloom eval TASK --out` made."
        )
    options = dict(request.get("options") or {})
    if isinstance(where, dict) and isinstance(where.get("spec"), str):
        options["spec"] = where["spec"]
    data = where.get("data") if isinstance(where, dict) else None
    return {"task": task, "split": split, "options": options, "data": data}


def _ended(run: Path) -> dict[str, bool]:
    """Return for each episode id whether the run failed on it in every finished epoch."""
    statuses: dict[str, list[str]] = defaultdict(list)
    for line in read_samples(run):
        statuses[_episode(line)].append(str(line.get("status")))
    return {name: all(status == "failed" for status in each) for name, each in statuses.items()}


def _episode(line: Mapping[str, Any]) -> str:
    result = line.get("result")
    episode = result.get("episode") if isinstance(result, dict) else None
    name = episode.get("id") if isinstance(episode, dict) else None
    return name if isinstance(name, str) else str(line["id"])


QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
_WORD_BINS = (10, 20, 30, 40)


@dataclass(frozen=True)
class SubsetAxis:
    """Distribution of one property of episodes, in the split and in the subset.

    Attributes:
        name: name of the property.
        rows: value, its count in the split and its count in the subset.
    """

    name: str
    rows: tuple[tuple[str, int, int], ...]

    @property
    def shares(self) -> list[tuple[str, float, float]]:
        """Each value with its share in the split and its share in the subset."""
        whole = sum(count for _, count, _ in self.rows) or 1
        part = sum(count for _, _, count in self.rows) or 1
        return [(name, a / whole, b / part) for name, a, b in self.rows]

    @property
    def distance(self) -> float:
        """Total variation distance between split and subset."""
        return sum(abs(a - b) for _, a, b in self.shares) / 2

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as JSON."""
        rows = [{"value": name, "full": a, "subset": b} for name, a, b in self.rows]
        return {"axis": self.name, "total_variation": round(self.distance, 4), "rows": rows}


@dataclass(frozen=True)
class SubsetQuantiles:
    """Mean and ``QUANTILES`` of a number, in the split and in the subset."""

    name: str
    full: tuple[float, ...]
    subset: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the mean and quantiles as JSON."""
        keys = ("mean", "min", "q25", "median", "q75", "max")
        sides = {"full": self.full, "subset": self.subset}
        return {"of": self.name, **{k: dict(zip(keys, v, strict=True)) for k, v in sides.items()}}


def compare_axes(
    full: Sequence[Episode], part: Sequence[Episode], *, bins: int = BINS
) -> list[SubsetAxis]:
    """Return the distributions by which a subset is compared with its split.

    Args:
        full: the whole split.
        part: the subset.
        bins: number of bins of path length.

    Returns:
        Scene, path length, index of the instruction, words, and category; only those with two
        values or more.
    """
    edges = bin_edges(full, bins)
    found = [
        _axis("scene", full, part, lambda e: e.scene),
        _axis("path length", full, part, lambda e: _range(edges, episode_length(e), " m")),
        _axis(
            "instruction", full, part, lambda e: f"number {e.columns.get('instruction_index', 0)}"
        ),
        _axis("words", full, part, lambda e: _range(_WORD_BINS, _words(e), "")),
        _axis("category", full, part, lambda e: e.category or ""),
    ]
    return [axis for axis in found if len(axis.rows) > 1]


def compare_quantiles(full: Sequence[Episode], part: Sequence[Episode]) -> list[SubsetQuantiles]:
    """Return mean and quantiles of path length (m) and instruction length (words)."""
    numbers: list[tuple[str, Callable[[Episode], float]]] = [
        ("path length (m)", episode_length),
        ("instruction (words)", _words),
    ]
    return [
        SubsetQuantiles(name, _numbers([of(e) for e in full]), _numbers([of(e) for e in part]))
        for name, of in numbers
    ]


def shares_table(axes: Sequence[SubsetAxis]) -> Table:
    """Return one table of all axes: values with counts and shares, and the distances."""
    rows = [
        (axis.name, name, str(a), str(b), percent(x), percent(y), f"{axis.distance:.4f}")
        if not at
        else ("", name, str(a), str(b), percent(x), percent(y), "")
        for axis in axes
        for at, ((name, a, b), (_, x, y)) in enumerate(zip(axis.rows, axis.shares, strict=True))
    ]
    header = (*("axis", "value", "full", "subset", "full share", "subset share"), "total variation")
    return Table("", "", header, tuple(rows))


def quantile_table(spreads: Sequence[SubsetQuantiles]) -> Table:
    """Return a table of means and quantiles, the split above the subset."""
    rows = tuple(
        (spread.name, side, *(f"{value:.2f}" for value in values))
        for spread in spreads
        for side, values in (("full", spread.full), ("subset", spread.subset))
    )
    return Table("", "", ("", "", "mean", "min", "25 %", "median", "75 %", "max"), rows)


def _axis(
    name: str, full: Sequence[Episode], part: Sequence[Episode], value: Callable[[Episode], str]
) -> SubsetAxis:
    whole, some = Counter(map(value, full)), Counter(map(value, part))
    return SubsetAxis(name, tuple((at, whole[at], some[at]) for at in sorted(whole, key=_key)))


def _key(value: str) -> tuple[float, str]:
    """Return a sort key: ranges by their numbers, names alphabetically."""
    head = value.lstrip("< ").split()[0] if value.strip() else ""
    try:
        return (-1.0 if value.startswith("<") else float(head)), value
    except ValueError:
        return 0.0, value


def _range(edges: Sequence[float], number: float, unit: str) -> str:
    place = int(np.searchsorted(edges, number, side="right"))
    if not edges:
        return "all"
    if place == 0:
        return f"< {edges[0]:.4g}{unit}"
    if place == len(edges):
        return f"{edges[-1]:.4g}{unit} and more"
    return f"{edges[place - 1]:.4g} to {edges[place]:.4g}{unit}"


def _words(episode: Episode) -> float:
    return float(len(episode.instruction.split()))


def _numbers(values: Sequence[float]) -> tuple[float, ...]:
    cuts = np.quantile(values, QUANTILES)
    return tuple(round(float(each), 4) for each in (np.mean(values), *cuts))


_MOST_VALUES = 40


def subset_chart(
    axes: Sequence[SubsetAxis], full: Sequence[Episode], part: Sequence[Episode]
) -> list[Bars | Scatter]:
    """Return charts of path lengths, and of the shares on each axis, in subset and split.

    Args:
        axes: axes of :func:`compare_axes`.
        full: the whole split.
        part: the subset.
    """
    from navloom.evals.report.block_chart import cumulative_scatter, paired_bars

    sides = ((f"full ({len(full)})", full), (f"subset ({len(part)})", part))
    lengths = {name: [episode_length(each) for each in held] for name, held in sides}
    shares = (
        paired_bars(
            f"{axis.name}: total variation {axis.distance:.4f}",
            [(name.removeprefix("mp3d:")[:20], a, b) for name, a, b in axis.shares[:_MOST_VALUES]],
            (sides[0][0], sides[1][0]),
        )
        for axis in axes
    )
    return [cumulative_scatter("path length", "metres", "share of episodes", lengths), *shares]
