"""Content-addressed cache on disk, in the user's cache folder, shared by any number of processes.

An entry is a file or a folder, named by a hash of everything it depends on. It is moved into place
whole, so a killed process leaves no partial entry. If two processes make the same entry, the later
one stays. No entry names code to run. A broken entry is deleted and made again. A store that grows
over its size limit drops its least recently used entries. (diskcache would do the rest, but it
unpickles what it reads.)
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from navloom.errors import NavloomError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_DAY_S = 86_400.0
_OURS = re.compile(r"\.?[\w-]+(\.npz|\.json)?(\.[\w-]+\.tmp)?")
_HALF = ".tmp"
_SWEEPS = 50
"""A process checks a store's size again after writing this fraction (1/50) of its limit."""
_BROKEN = (
    OSError,
    ArithmeticError,
    ValueError,
    LookupError,
    EOFError,
    TypeError,
    RecursionError,
    zipfile.BadZipFile,
)
_counter = count()
_warned: set[str] = set()
_written: dict[Path, int] = {}
"""Bytes that this process has written to each store since it last checked its size."""


class BrokenEntryError(NavloomError):
    """An entry that could not be read. It is deleted."""


def cache_folder(given: Path | str | None = None) -> Path:
    """Return the cache folder: ``given``, else ``NAVLOOM_CACHE``, else the user's own."""
    named = given or os.environ.get("NAVLOOM_CACHE", "").strip()
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "navloom"


def read_entry(path: Path, load: Callable[[IO[bytes]], T]) -> T | None:
    """Load an entry; return None if its file cannot be opened.

    Args:
        path: of the file.
        load: parses the file. For any content it returns a valid value or raises an OSError,
            ValueError, LookupError, TypeError, EOFError or RecursionError.

    Raises:
        BrokenEntryError: ``load`` failed; the message says why.
    """
    try:
        file = path.open("rb")
    except OSError:
        return None
    with file:
        try:
            return load(file)
        except _BROKEN as error:
            with contextlib.suppress(OSError):
                path.unlink()
            raise BrokenEntryError(error_reason(error)) from error


def write_entry(path: Path, save: Callable[[IO[bytes]], object]) -> None:
    """Write an entry under a temporary name, then move it into place.

    Args:
        path: of the file; its folder is made.
        save: writes the content.

    Raises:
        OSError: it cannot be written; no temporary file is left.
    """
    half = _half(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with half.open("wb") as file:
            save(file)
        half.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            half.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One entry of a store.

    Attributes:
        path: of the file or the folder.
        bytes: its size.
        used: when it was last used, in seconds since the epoch; in a store without a size limit,
            when it was made.
    """

    path: Path
    bytes: int
    used: float


@dataclass(frozen=True, slots=True)
class CacheStore:
    """A folder of the cache, with an optional size limit.

    Attributes:
        name: of the folder.
        what: the noun for an entry in messages.
        most_bytes: its size limit; None for no limit.
        spread: whether entries lie in subfolders named after their first two characters.
    """

    name: str
    what: str
    most_bytes: int | None = None
    spread: bool = False

    def root(self, given: Path | str | None = None) -> Path:
        """Return the store's folder, in the cache at ``given`` (:func:`cache_folder`)."""
        return cache_folder(given) / self.name

    def path(self, name: str, given: Path | str | None = None) -> Path:
        """Return the path of an entry, whether it exists or not."""
        return self.root(given) / (name[:2] if self.spread else "") / name

    def kept(
        self,
        name: str,
        make: Callable[[], T],
        save: Callable[[IO[bytes], T], object],
        load: Callable[[IO[bytes]], T],
    ) -> T:
        """Return the content of an entry; make and store it if it is missing or broken.

        Args:
            name: of the file: a hash and ``.npz`` or ``.json``.
            make: computes the content if no file can be read.
            save: writes the content.
            load: as for :func:`read_entry`.
        """
        path = self.path(name)
        try:
            found = read_entry(path, load)
        except BrokenEntryError as error:
            self._once("broken", f"a broken entry is worked out anew ({error})")
        else:
            if found is not None:
                _touch(path)
                return found
        made = make()
        self.put(name, lambda file: save(file, made))
        return made

    def put(self, name: str, save: Callable[[IO[bytes]], object]) -> None:
        """Store a file; if it cannot be written, log that once and go on.

        Args:
            name: of the file: a hash and ``.npz`` or ``.json``.
            save: writes it.
        """
        path = self.path(name)
        try:
            write_entry(path, save)
            self._bound(path)
        except OSError as error:
            self._once("full", f"{error_reason(error)}; it is not kept")

    def folder(
        self, name: str, fill: Callable[[Path], None], whole: Callable[[Path], bool]
    ) -> Path:
        """Return a folder of files; fill it if it is missing or incomplete.

        Args:
            name: of the folder: a hash.
            fill: writes the files into an empty folder.
            whole: checks whether a folder was filled completely.

        Raises:
            OSError: it cannot be written.
        """
        path = self.path(name)
        if whole(path):
            _touch(path)
            return path
        half = _half(path)
        try:
            half.mkdir(mode=0o700, parents=True)
            fill(half)
            # An incomplete folder can only come from outside this cache.
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                half.rename(path)
        finally:
            shutil.rmtree(half, ignore_errors=True)
        self._bound(path)
        return path

    def entries(self, given: Path | str | None = None) -> Iterator[CacheEntry]:
        """List the store's entries by name; other files in its folder are left out."""
        root = self.root(given)
        for path in sorted(root.glob("??/*" if self.spread else "*")):
            with contextlib.suppress(OSError):
                own = not self.spread or path.name.startswith(path.parent.name)
                if own and _OURS.fullmatch(path.name):
                    state = path.lstat()
                    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
                    size = sum(each.stat().st_size for each in inside if each.is_file())
                    yield CacheEntry(path, size or state.st_size, state.st_mtime)

    def prune(
        self, older_than: float | None = None, given: Path | str | None = None
    ) -> tuple[int, int]:
        """Delete entries.

        Args:
            older_than: delete only entries not used (see `Entry.used`) for this many seconds; None
                deletes all.
            given: the cache's folder.

        Returns:
            The number of deleted entries and their total size in bytes.
        """
        before, number, size = time.time() - (older_than or 0.0), 0, 0
        for each in list(self.entries(given)):
            if (older_than is None or each.used < before) and _dropped(each.path):
                number, size = number + 1, size + each.bytes
        return number, size

    def _bound(self, newest: Path) -> None:
        """Drop the least recently used entries until the store is within its size limit."""
        if self.most_bytes is None:
            return
        root = self.root()
        fresh = newest.stat().st_size if newest.is_file() else self.most_bytes
        _written[root] = _written.get(root, self.most_bytes) + fresh
        if _written[root] * _SWEEPS < self.most_bytes:
            return
        _written[root] = 0
        there = sorted(self.entries(), key=lambda each: (each.used, each.path.name))
        size = sum(each.bytes for each in there)
        for each in there:
            half = each.path.name.endswith(_HALF)
            # Another process may still be writing a young temporary entry.
            young = half and time.time() - each.used < _DAY_S
            if each.path != newest and not young and (half or size > self.most_bytes):
                size -= each.bytes if _dropped(each.path) else 0

    def _once(self, kind: str, text: str) -> None:
        if f"{self.name} {kind}" not in _warned:
            _warned.add(f"{self.name} {kind}")
            logging.getLogger("navloom").warning("%s in %s: %s", self.what, self.root(), text)


REPLIES = CacheStore("replies", "a reply", spread=True)
"""Replies of models (:mod:`navloom.models.response_cache`). Calls cost money, so all are kept."""
HOMES = CacheStore("homes", "a home", 500_000_000)
"""Generated homes, as scenes."""
MESHES = CacheStore("meshes", "a mesh", 1_000_000_000)
"""Triangles of scenes whose mesh is built from boxes and walls."""
SIGHTS = CacheStore("sights", "what is in sight", 200_000_000)
"""The objects visible from viewpoints."""
LIGHT = CacheStore("light", "light", 1_000_000_000)
"""Baked light of homes, for rendering."""
HABITAT = CacheStore("habitat", "a scene for habitat", 4_000_000_000)
"""Scenes in Habitat's format, with their navmeshes."""
BODIES = CacheStore("bodies", "where a body can be", 1_000_000_000)
"""Fields and navigation graphs of bodies."""
TABLES = CacheStore("tables", "which links bodies pass", 100_000_000)
"""Which bodies pass which links of a scene, by rule."""
VIEWS = CacheStore("views", "an index of a run", 500_000_000)
"""Indexes of runs (columns and position of each line), for the pages that show them."""
STORES = (HOMES, MESHES, SIGHTS, LIGHT, HABITAT, BODIES, TABLES, VIEWS)
"""All stores except the replies."""
TOKEN_FILE = "view-token"  # noqa: S105 - a name, no password
"""The token of the page server, also in the cache folder: see :mod:`navloom.web.page_server`."""


def content_key(*parts: str | bytes | NDArray[np.generic]) -> str:
    """Return a hash of texts and arrays, which names an entry made from them alone."""
    whole = sha256()
    for part in parts:
        if isinstance(part, (str, bytes)):
            told, data = b"", part.encode(errors="surrogatepass") if isinstance(part, str) else part
        else:
            told, data = f"{part.dtype.str}{part.shape}".encode(), part.tobytes()
        whole.update(f"{len(told)} {len(data)} ".encode() + told)
        whole.update(data)
    return whole.hexdigest()


@lru_cache(maxsize=16)
def code_key(*paths: str, libraries: tuple[str, ...] = ()) -> str:
    """Return a hash of source files and library versions: any change of code changes it.

    Args:
        paths: files, and folders of Python and YAML files with all folders within.
        libraries: distributions that the code computes with.
    """
    files = [
        file
        for path in map(Path, paths)
        for file in (
            [path] if path.is_file() else sorted((*path.rglob("*.py"), *path.rglob("*.yaml")))
        )
    ]
    return content_key(*(file.read_bytes() for file in files), *map(version, libraries))


def error_reason(error: BaseException) -> str:
    """Return the reason of an error on one line of at most 200 characters."""
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(told).split())[:200]


def _half(path: Path) -> Path:
    # Process id and counter: two writers of one entry must not share a temporary file.
    return path.with_name(f"{path.name}.{os.getpid()}-{next(_counter)}{_HALF}")


def _dropped(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return not path.exists()
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)
