"""What was worked out, kept on disk by what it was worked out from: in the user's cache folder.

An entry is a file or a folder, named by a hash of all that it depends on, and moved into place
whole: a kill leaves no half entry, and of two processes that make one the later one's stands.
Nothing in an entry names code to be run; one that is broken is made anew. When a shelf grows over
its bound, what was not used for longest goes. (diskcache would do the rest, but unpickles what it
reads.)
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
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_DAY_S = 86_400.0
_OURS = re.compile(r"\.?[\w-]+(\.npz|\.json)?(\.[\w-]+\.tmp)?")
_HALF = ".tmp"
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
_said: set[str] = set()


def cache_folder(given: Path | str | None = None) -> Path:
    """The cache's folder: ``given``, else ``NAVLOOM_CACHE``, else the user's cache folder."""
    named = given or os.environ.get("NAVLOOM_CACHE", "").strip()
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "navloom"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept under one name.

    Attributes:
        path: of the file or the folder.
        bytes: its size.
        used: when it was last used, in seconds since the epoch.
    """

    path: Path
    bytes: int
    used: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """A folder of the cache.

    Attributes:
        name: of the folder.
        most_bytes: what it may grow to.
        what: what an entry is called in messages.
    """

    name: str
    most_bytes: int
    what: str

    def root(self, given: Path | str | None = None) -> Path:
        """Where it is, of the cache at ``given`` (see :func:`cache_folder`)."""
        return cache_folder(given) / self.name

    def kept(
        self,
        name: str,
        make: Callable[[], T],
        save: Callable[[IO[bytes], T], object],
        load: Callable[[IO[bytes]], T],
    ) -> T:
        """Something from its file, or made and put there.

        Args:
            name: of the file: a hash and ``.npz`` or ``.json``.
            make: makes it, where there is no file that can be read.
            save: writes it.
            load: reads it; whatever a file may hold, it gives something sound or fails with a
                ValueError, LookupError, TypeError or EOFError.
        """
        path = self.root() / name
        try:
            with path.open("rb") as file:
                found = load(file)
        except FileNotFoundError:
            pass
        except _BROKEN as error:
            with contextlib.suppress(OSError):
                path.unlink()
            self._once("broken", f"a broken entry is worked out anew ({_why(error)})")
        else:
            _touch(path)
            return found
        made = make()
        self.put(name, lambda file: save(file, made))
        return made

    def put(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """Put a file there, in place of what stood under its name; where it cannot be, it is not.

        Args:
            name: of the file: a hash and ``.npz`` or ``.json``.
            write: writes it.
        """
        half, path = self._half(name), self.root() / name
        try:
            half.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with half.open("wb") as file:
                write(file)
            half.replace(path)
            self._bound(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                half.unlink(missing_ok=True)
            self._once("full", f"{_why(error)}; it is not kept")

    def folder(
        self, name: str, fill: Callable[[Path], None], whole: Callable[[Path], bool]
    ) -> Path:
        """A folder of files, filled where it is not there.

        Args:
            name: of the folder: a hash.
            fill: writes the files into an empty folder.
            whole: whether a folder is one that was filled.

        Raises:
            OSError: it cannot be written.
        """
        path = self.root() / name
        if whole(path):
            _touch(path)
            return path
        half = self._half(name)
        try:
            half.mkdir(mode=0o700, parents=True)
            fill(half)
            # What stands there and is not whole is what other hands have left.
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                half.rename(path)
        finally:
            shutil.rmtree(half, ignore_errors=True)
        self._bound(path)
        return path

    def entries(self, given: Path | str | None = None) -> Iterator[Entry]:
        """What is kept, by name; what is not ours is none of it."""
        root = self.root(given)
        for path in sorted(root.iterdir()) if root.is_dir() else ():
            with contextlib.suppress(OSError):
                state = path.lstat()
                if _OURS.fullmatch(path.name):
                    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
                    size = sum(each.stat().st_size for each in inside if each.is_file())
                    yield Entry(path, size or state.st_size, state.st_mtime)

    def prune(
        self, older_than: float | None = None, given: Path | str | None = None
    ) -> tuple[int, int]:
        """Delete entries.

        Args:
            older_than: only what was not used for so many seconds; None deletes all.
            given: the cache's folder.

        Returns:
            How many, and their bytes.
        """
        before, number, size = time.time() - (older_than or 0.0), 0, 0
        for each in list(self.entries(given)):
            if (older_than is None or each.used < before) and _dropped(each.path):
                number, size = number + 1, size + each.bytes
        return number, size

    def _bound(self, newest: Path) -> None:
        """Drop what was not used for longest, until the shelf keeps to its bound."""
        there = sorted(self.entries(), key=lambda each: (each.used, each.path.name))
        size = sum(each.bytes for each in there)
        for each in there:
            half = each.path.name.endswith(_HALF)
            # Another process may be writing what is young and half made.
            young = half and time.time() - each.used < _DAY_S
            if each.path != newest and not young and (half or size > self.most_bytes):
                size -= each.bytes if _dropped(each.path) else 0

    def _half(self, name: str) -> Path:
        return self.root() / f"{name}.{os.getpid()}-{next(_counter)}{_HALF}"

    def _once(self, kind: str, text: str) -> None:
        if f"{self.name} {kind}" not in _said:
            _said.add(f"{self.name} {kind}")
            logging.getLogger("navloom").warning("%s in %s: %s", self.what, self.root(), text)


LIGHT = Shelf("light", 1_000_000_000, "light")
"""The light of homes, which pictures are drawn by."""
HABITAT = Shelf("habitat", 4_000_000_000, "a scene for habitat")
"""Scenes as habitat opens them, with their navmeshes."""
BODIES = Shelf("bodies", 1_000_000_000, "where a body can be")
"""Fields and navigation graphs of bodies."""
VIEWS = Shelf("views", 500_000_000, "an index of a run")
"""Columns of runs' lines, and where each line stands, for the pages that show them."""
SHELVES = (LIGHT, HABITAT, BODIES, VIEWS)


def content_key(*parts: str | bytes | NDArray[np.generic]) -> str:
    """A name for what depends on some texts and arrays, and on nothing else."""
    import numpy as np

    whole = sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            told = f"{part.dtype.str}{part.shape}".encode()
            data = np.ascontiguousarray(part).tobytes()
        else:
            told, data = b"", part.encode(errors="surrogatepass") if isinstance(part, str) else part
        whole.update(f"{len(told)} {len(data)} ".encode() + told)
        whole.update(data)
    return whole.hexdigest()


@lru_cache(maxsize=16)
def code_key(*paths: str) -> str:
    """A name for the code that makes something: it changes with every change of the code.

    Args:
        paths: Python files, and folders of them with all folders within.
    """
    files = [
        file
        for path in map(Path, paths)
        for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))
    ]
    return content_key(*(file.read_bytes() for file in files))


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


def _why(error: BaseException) -> str:
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(told).split())[:200]
