"""The folder of a run: its request, finished samples and errors.

    RUN/
      run.json            the request, versions, git state, seed, command; written once, whole
      samples.jsonl       one finished sample a line, append-only
      errors.jsonl        samples that ended in an exception, one a line
      errors-retried.jsonl   errors that were retried
      checkpoints.sqlite  LangGraph's checkpoints of unfinished samples
      calls.sqlite        model calls: messages, tools and replies (navloom.evals.call_log)
      summary.json        counts, tokens, cost; written at the end of each session
      torn.txt            the bytes of lines that a kill cut short, if any

Durability: a line is on disk before its sample counts as finished. A process may be killed at any
moment, and the same command resumes the run. One process at a time writes a folder (``flock`` on
``.lock``); any number may read it meanwhile.

Integrity: ``line_check`` in ``run.json`` is a hash of the run's identity. It is the key of the
``check`` of each line of the two files. The readers here remove both.

``run.json`` also records package versions and the state of the checkout.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from typing import Any

from navloom import files
from navloom.errors import RunError
from navloom.evals.progress import Tally
from navloom.evals.session import check_sample_id
from navloom.models.redaction import COMMAND, redact_value

_RECORDED = ("langgraph", "langgraph-checkpoint-sqlite", "langchain-core", "pydantic")


def package_version(name: str) -> str | None:
    """Return the installed version of a package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def recorded_versions() -> dict[str, str | None]:
    """Return the versions of Python, homes and packages that may affect a run's outcome."""
    from navloom.scenes.scene_uri import homes_version

    return {
        "python": platform.python_version(),
        "homes": homes_version(),
        **{name: package_version(name) for name in _RECORDED},
    }


def typed_command() -> dict[str, str]:
    """Return the command line being executed, shell-quoted; {} in a call from Python."""
    words = COMMAND.get()
    return {"command": shlex.join(("navloom", *words))} if words else {}


def recorded_homes(said: Mapping[str, Any]) -> str | None:
    """Return the homes version that ``run.json`` records, or None."""
    made = said.get("versions")
    found = made.get("homes") if isinstance(made, Mapping) else None
    return None if found is None else str(found)


def check_homes_version(said: Mapping[str, Any], run: Path | str) -> None:
    """Refuse to resume a run whose homes this version would generate differently.

    Raises:
        RunError: its request names homes, and was made with another version of them.
    """
    from navloom.scenes.scene_uri import homes_mismatch

    for name in _homes_in([said.get("request"), said.get("where")]):
        if other := homes_mismatch(name, recorded_homes(said)):
            raise RunError(f"{run}: {other}. Give another --out.")


def _homes_in(asked: Any) -> Iterator[str]:
    """Yield all strings in a request that name generated homes."""
    # A queue, no recursion: the file is untrusted and may be deeply nested.
    left = [asked]
    while left:
        one = left.pop(0)
        if isinstance(one, str):
            yield from [one] if one.startswith("home:") else []
        elif isinstance(one, Mapping):
            left += one.values()
        elif isinstance(one, Sequence):
            left += one


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return the commit of the checkout around a folder, and whether it has changes.

    Returns:
        ``{"commit": str, "dirty": bool}``; None outside a checkout or without git.
    """
    git = shutil.which("git")
    if git is None:
        return None
    commit = _git(git, folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(git, folder, "status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": bool(changed)}


def _git(git: str, folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments, no shell
            [git, "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def version_error(run: Path | str, said: Mapping[str, Any], what: str) -> RunError:
    """Return an error that this version cannot read a run, and which version can.

    Args:
        run: its folder.
        said: its ``run.json``.
        what: the part that this version does not know.
    """
    return RunError(
        f"{run} is no run of this version: {what}. navloom {said.get('navloom') or '?'} made and"
        f" reads it, and this is {package_version('navloom')}."
    )


_MAX_RUN_JSON = 16 * 1024 * 1024
_MOST_SUMMARY = 64 * 1024 * 1024
_MOST_INSIDE = 4
_SHOWN = 60


def read_summary(path: Path | str) -> dict[str, Any]:
    """Return the content of ``summary.json``; {} if the file is missing or unreadable."""
    try:
        found = json.loads((Path(path) / "summary.json").read_bytes()[:_MOST_SUMMARY])
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_run(path: Path | str) -> dict[str, Any]:
    """Read ``run.json``.

    Raises:
        RunError: the folder is no run, or its ``run.json`` is broken.
    """
    file = Path(path) / "run.json"
    try:
        with file.open("rb") as opened:
            data = opened.read(_MAX_RUN_JSON + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(
            f"{path} is not a run: it has no run.json. {_runs_inside(Path(path))}"
        ) from None
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        record = None
    whole = record if isinstance(record, dict) else {}
    if not isinstance(whole.get("request"), dict) or not isinstance(whole.get("where", {}), dict):
        raise RunError(
            f"{file} is broken: expected a JSON object with a request. Use another folder."
        )
    return whole


def _runs_inside(path: Path) -> str:
    """Return a hint at folders that may be meant: a study keeps its runs one level down."""
    inside = sorted(str(file.parent) for file in path.glob("*/run.json"))
    if not inside:
        return "Give a folder that --out made."
    return f"Runs inside: {files.join_some(inside, _MOST_INSIDE)}."


def read_samples(path: Path | str) -> list[dict[str, Any]]:
    """Read the finished samples of a run, sorted by id; skips a line still being written.

    Raises:
        RunError: the folder is no run, or holds a broken line or an id twice.
    """
    return _sorted(Path(path), "samples.jsonl")


def iter_samples(path: Path | str) -> Iterator[dict[str, Any]]:
    """Iterate over the samples of :func:`read_samples`, with one at a time in memory."""
    return files.read_by_id(Path(path) / "samples.jsonl", line_form(Path(path), "samples.jsonl"))


def for_each_sample(run: Path | str, add: Callable[[dict[str, Any]], None], what: str) -> None:
    """Pass every finished sample of a run to ``add``, by id, with one at a time in memory.

    Args:
        run: the folder.
        add: receives each line; its exceptions mean that the line is malformed.
        what: expected content of a line, such as "an episode".

    Raises:
        RunError: the folder is no run, or a line is malformed.
    """
    for line in iter_samples(run):
        with files.check_format(f"{run}: the sample '{line['id']}'", what):
            add(line)


def read_errors(path: Path | str) -> list[dict[str, Any]]:
    """Read the samples of a run that ended in an exception, sorted by id.

    Raises:
        RunError: as ``read_samples``.
    """
    return _sorted(Path(path), "errors.jsonl")


def _sorted(folder: Path, name: str) -> list[dict[str, Any]]:
    records: dict[str, dict[str, Any]] = {}
    for record in files.read_lines(folder / name, line_form(folder, name)):
        if record["id"] in records:
            raise RunError(f"{folder / name} holds the id '{record['id']}' twice")
        records[record["id"]] = record
    return [records[key] for key in sorted(records)]


_STATUSES = {"samples.jsonl": ("ok", "failed"), "errors.jsonl": ("error",)}


def line_form(folder: Path, name: str) -> files.LineFormat:
    """Return the expected form of the lines of a run's file; old runs have no check.

    Args:
        folder: the run's.
        name: ``samples.jsonl`` or ``errors.jsonl``.

    Raises:
        RunError: the folder is no run, or its ``run.json`` does not match its ``line_check``.
    """
    said = read_run(folder)
    there = said.get("line_check")
    if there is not None and there != _line_check(said):
        raise RunError(
            f"{folder / 'run.json'} was changed by other hands: it does not say what its lines were"
            " made for, and nothing of them is counted. Put it back as it was, or use another"
            " folder."
        )
    return files.LineFormat(there.encode() if there else b"", _STATUSES[name])


def _line_check(said: Mapping[str, Any]) -> str:
    """Return the key of the checks of a run's lines, from its ``run.json``."""
    told = [said.get(key) for key in ("kind", "request", "seed", "created")]
    whole = json.dumps(told, sort_keys=True)
    return blake2b(whole.encode(), digest_size=16).hexdigest()


def holds_run(path: Path) -> bool:
    """Check whether a folder holds a run; False if it is new or empty, so one can be made.

    Call it before planning a run; it writes nothing.

    Raises:
        RunError: it is a file, holds other files, or cannot be read or written.
    """
    try:
        files.check_writable(path, folder=True)
        names = {entry.name for entry in path.iterdir()}
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    others = sorted(name for name in names if not name.startswith("."))
    if "run.json" not in names and others:
        raise RunError(
            f"{path} holds other files ({', '.join(others[:3])}) and no run.json: give --out a new"
            " or an empty folder"
        )
    return "run.json" in names


class RunFolder:
    """The folder of a run, locked by this process until ``close``.

    Args:
        path: the folder; created with its parents if missing.
        kind: the kind of run, such as ``"single"``.
        request: everything that a sample's outcome depends on, as JSON, without execution settings
            (connections, display).
        seed: the run's seed.
        where: locations on this machine of files that the request identifies by hash; stored for
            retries, not part of the run's identity.

    Attributes:
        path: the folder.
        seed: the run's seed.
        made_by: the version of Navloom that started the run.
        finished: ids in ``samples.jsonl``.
        errored: ids in ``errors.jsonl``.
        tally: totals over all lines of both.

    Raises:
        RunError: the folder holds another request or other files, is in use by another process,
            cannot be written, or is broken; the message says which and what to do.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        kind: str,
        request: Mapping[str, Any],
        seed: int,
        where: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        self.kind = kind
        self.request: dict[str, Any] = json.loads(json.dumps(dict(request)))
        self.seed = seed
        self._where = dict(where or {})
        self.made_by: str | None = package_version("navloom")
        self._done = Tally()
        self._broken = Tally()
        with contextlib.ExitStack() as opened:
            # Checked before any write, so that a folder with other files stays as it is.
            self._belongs()
            opened.callback(self._unlock)
            self._lock()
            if not self._belongs():
                record: dict[str, Any] = {
                    "navloom": package_version("navloom"),
                    "kind": kind,
                    "request": self.request,
                    **({"where": self._where} if self._where else {}),
                    "request_hash": request_hash(kind, self.request, seed),
                    "seed": seed,
                    "created": datetime.now(UTC).isoformat(timespec="seconds"),
                    "git": git_state(Path.cwd()),
                    "versions": recorded_versions(),
                    **typed_command(),
                }
                record["line_check"] = _line_check(redact_value(record))
                self._write("run.json", record)
            self._samples = self._lines("samples.jsonl", self._done)
            opened.callback(self._samples.close)
            self._errors = self._lines("errors.jsonl", self._broken)
            opened.callback(self._errors.close)
            self._opened = opened.pop_all()

    def _lines(self, name: str, tally: Tally) -> files.JsonlFile:
        with files.check_format(f"{self.path / name}: a line", "a sample"):
            return files.JsonlFile(self.path / name, tally.add, line_form(self.path, name))

    @property
    def checkpoints(self) -> Path:
        """The file of LangGraph's checkpoints."""
        return self.path / "checkpoints.sqlite"

    @property
    def finished(self) -> set[str]:
        """Ids of the samples that ended as ok or failed."""
        return self._samples.ids

    @property
    def error_ids(self) -> set[str]:
        """Ids of the samples that ended in an exception."""
        return self._errors.ids

    @property
    def tally(self) -> Tally:
        """Totals over the lines of ``samples.jsonl`` and ``errors.jsonl``."""
        return self._done + self._broken

    def check_planned(self, planned: set[str]) -> None:
        """Check that every line belongs to one of the planned samples.

        Raises:
            RunError: one is not; the message names its file and line.
        """
        if self.finished | self.error_ids <= planned:
            return
        for file in (self._samples, self._errors):
            for number, record in enumerate(files.read_lines(file.path, file.form), start=1):
                if record["id"] not in planned:
                    raise RunError(
                        f"{file.path} line {number}: this run has no sample '{record['id']}': the"
                        " file was changed by other hands. Remove that line, and run the same"
                        " command again."
                    )

    def add_sample(self, record: dict[str, Any]) -> None:
        """Append a finished sample; it is on disk when this returns.

        Raises:
            RunError: its id is there already, or it cannot be written.
        """
        self._add(record, self._samples, self._done)

    def add_error(self, record: dict[str, Any]) -> None:
        """Append a sample that ended in an exception.

        Raises:
            RunError: its id is there already, or it cannot be written.
        """
        self._add(record, self._errors, self._broken)

    def _add(self, record: dict[str, Any], lines: files.JsonlFile, tally: Tally) -> None:
        check_sample_id(record["id"])
        record = redact_value(record)
        lines.append(record)
        tally.add(record)

    def retry_errors(self) -> int:
        """Move all errors to ``errors-retried.jsonl``, so that their samples are retried.

        Returns:
            The number of errors.
        """
        records = len(self.error_ids)
        if not records:
            return 0
        try:
            # Write the history first: a kill in between duplicates lines there and loses none.
            with (self.path / "errors-retried.jsonl").open("ab") as history:
                history.write(self._errors.path.read_bytes())
                history.flush()
                os.fsync(history.fileno())
            self._errors.close()
            self._write("errors.jsonl", None)
        except OSError as error:
            raise files.write_error(self._errors.path, error) from error
        self._broken = Tally()
        self._errors = self._lines("errors.jsonl", self._broken)
        self._opened.callback(self._errors.close)
        return records

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Write ``summary.json`` atomically.

        Raises:
            RunError: it cannot be written.
        """
        self._write("summary.json", summary)

    def close(self) -> None:
        """Release the folder; may be called twice."""
        self._opened.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _belongs(self) -> bool:
        """Check whether the folder holds this very request; False if it is new or empty.

        Raises:
            RunError: it holds another request, or other files.
        """
        if not holds_run(self.path):
            return False
        there = read_run(self.path)
        self.made_by = there.get("navloom")
        if there.get("request_hash") != request_hash(self.kind, self.request, self.seed):
            what = f"{self.path} holds another run: {self._differences(there)}."
            if self.made_by != package_version("navloom"):
                what += f" navloom {self.made_by or '?'} made it and goes on with it."
            raise RunError(
                f"{what} Ask for the same again to go on with it, or give another --out."
            )
        check_homes_version(there, self.path)
        return True

    def _differences(self, there: dict[str, Any]) -> str:
        """Return the keys in which two requests differ, each with both values, as text."""
        if there.get("kind") != self.kind:
            return f"it is a '{there.get('kind')}', asked for is a '{self.kind}'"
        old = {"seed": there.get("seed"), **there["request"]}
        new = {"seed": self.seed, **self.request}
        said = [
            "{} was {}, now {}".format(key, *_shown(old.get(key), new.get(key)))
            for key in sorted(old.keys() | new.keys())
            if old.get(key) != new.get(key)
        ]
        return "; ".join(said) or "its run.json was changed by other hands"

    def _lock(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock_fd = os.open(
                self.path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except FileExistsError:
            raise RunError(f"{self.path} is a file: give --out a folder") from None
        except OSError as error:
            raise files.write_error(self.path, error) from error
        try:
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._lock_fd, 0)
            since = datetime.now(UTC).isoformat(timespec="seconds")
            holder = f"process {os.getpid()} on {socket.gethostname()} since {since}"
            os.pwrite(self._lock_fd, holder.encode(), 0)
        except BlockingIOError:
            holder = os.pread(self._lock_fd, 200, 0).decode(errors="replace") or "another process"
            raise RunError(
                f"{self.path} is in use by {' '.join(holder.split())}: wait for it or stop it,"
                " then run this again"
            ) from None
        except OSError as error:
            raise files.write_error(self.path / ".lock", error) from error

    def _unlock(self) -> None:
        fd, self._lock_fd = getattr(self, "_lock_fd", -1), -1
        if fd >= 0:
            os.close(fd)

    def _write(self, name: str, content: dict[str, Any] | None) -> None:
        """Write a small file atomically; None makes it empty."""
        clean = redact_value(content)
        text = "" if clean is None else json.dumps(clean, indent=2, ensure_ascii=False) + "\n"
        # Non-UTF-8 bytes of paths are lone surrogates here: write them as JSON escapes.
        files.write_run_file(self.path / name, text.encode(errors="backslashreplace"))


def request_hash(kind: str, request: Mapping[str, Any], seed: int) -> str:
    """Return the hash that identifies a run."""
    whole = json.dumps([kind, request, seed], sort_keys=True, separators=(",", ":"))
    return blake2b(whole.encode(), digest_size=16).hexdigest()


def _shown(old: Any, new: Any) -> tuple[str, str]:
    """Return two values as text, cut around their first difference if long."""
    both = [json.dumps(value, ensure_ascii=False) for value in (old, new)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*both, strict=False)))
    start = max(0, same - _SHOWN // 3) if max(map(len, both)) > _SHOWN else 0
    end = start + _SHOWN
    was, now = (("…" if start else "") + t[start:end] + ("…" if len(t) > end else "") for t in both)
    return was, now
