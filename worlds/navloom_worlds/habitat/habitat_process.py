"""Processes that run habitat_sim: started, queried, kept for reuse, and ended.

A few are kept, one per open scene. When another scene is needed, the least recently used one ends.
A process that crashes, hangs or is killed raises an error in its caller, in one line, and the next
request starts another. All end with this process.

    NAVLOOM_HABITAT_PYTHON     the Python that has habitat_sim, if it is not this one
    NAVLOOM_HABITAT_PROCESSES  maximum number of processes; 4
    NAVLOOM_HABITAT_SECONDS    time limit of an answer; 300
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from navloom.errors import SimulatorError

PYTHON, PROCESSES, SECONDS = (f"NAVLOOM_HABITAT_{w}" for w in ("PYTHON", "PROCESSES", "SECONDS"))
PAGE = "docs/habitat.md"
_MOST, _LIMIT_S = 4, 300.0
_WORKER = Path(__file__).with_name("habitat_worker.py")
_UNLIT = Path(__file__).with_name("unlit")
"""Habitat reads data/default.pbr_config.json of its working folder. The one here leaves out the
environment light, which takes 7 to 35 s to compute and has no effect on unlit scenes."""
_MOST_BYTES = 300_000_000
_MOST_SAID, _LAST_LINES = 8_000, 3
_NOISE = "duplicate static plugin"
"""Message of every habitat_sim at import."""
_INSTALL = (
    f"conda install habitat-sim withbullet headless -c conda-forge -c aihabitat, and name its"
    f" Python in {PYTHON}; see {PAGE}"
)
_SCREEN = (
    f"there is no EGL device to draw on: gpu_device_id -1 takes any, software too (libEGL and"
    f" Mesa's driver must be installed); see {PAGE}"
)


@dataclass(frozen=True)
class OpenScene:
    """Scene that a process has open.

    Attributes:
        config: a scene dataset's config.
        scene: the scene's handle in it.
        gpu: the render device; -1 is any.
        modalities: the kinds of images it must be able to render.
        unlit: whether the scene is known to be unlit.
    """

    config: str
    scene: str
    gpu: int = -1
    modalities: tuple[str, ...] = ()
    unlit: bool = False


def missing_reason() -> str:
    """Return in one line why habitat_sim is missing; empty if no reason is known before its start.

    It imports nothing.
    """
    named = os.environ.get(PYTHON, "").strip()
    if named:
        path = Path(named).expanduser()
        if path.is_file() and os.access(path, os.X_OK):
            return ""
        return f"{PYTHON}={named} is no program: expected the Python that has habitat_sim."
    if find_spec("habitat_sim") is not None:
        return ""
    return f"habitat_sim is not installed (it is in no pip index): {_INSTALL}."


@cache
def check_rendering(gpu: int) -> str:
    """Return the version of habitat_sim after a test rendering, cached per device.

    Args:
        gpu: as in :class:`OpenScene`.

    Raises:
        SimulatorError: there is no habitat_sim, or no render device.
    """
    process = HabitatProcess(OpenScene("default", "NONE", gpu, unlit=True))
    try:
        return str(process.ask("renderer")[0]["version"])
    finally:
        process.close()


class HabitatProcess:
    """Process that runs habitat_sim, with one open scene.

    Args:
        place: the scene to open.

    Raises:
        SimulatorError: there is no habitat_sim, or it cannot be started.
    """

    def __init__(self, place: OpenScene) -> None:
        if why := missing_reason():
            raise SimulatorError(why)
        self.place = place
        self.lock = threading.Lock()
        python = os.environ.get(PYTHON, "").strip() or sys.executable
        ours, theirs = socket.socketpair()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  open as long as it runs
        quiet = {"MAGNUM_LOG": "quiet", "HABITAT_SIM_LOG": "quiet", "GLOG_minloglevel": "2"}
        try:
            self._child = subprocess.Popen(  # noqa: S603  the user's own Python, and our file
                [str(Path(python).expanduser().absolute()), str(_WORKER), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=[theirs.fileno()],
                # Ctrl-C is handled by the caller; without a caller the process ends by itself.
                start_new_session=True,
                env={**quiet, **os.environ},
                cwd=_UNLIT if place.unlit else None,
            )
        except OSError as error:
            ours.close()
            self._said.close()
            raise SimulatorError(f"{python} cannot be started: {error.strerror}.") from error
        finally:
            theirs.close()
        self._link = Connection(ours.detach())
        self.open = True
        self.navmeshes: set[str] = set()
        """Files of the navmeshes that it has loaded."""
        try:
            told = asdict(place)
            del told["unlit"]  # it only determines the working folder
            self.ask("enter", **told)
        except SimulatorError:
            self.close()
            raise

    def ask(self, do: str, **given: Any) -> tuple[dict[str, Any], bytes]:
        """Send a request; return the answer, and the bytes of its image.

        Args:
            do: a method of ``HabitatWorker``.
            given: its arguments.

        Raises:
            SimulatorError: the request failed, or the process died or hung and is closed.
        """
        limit = _seconds()
        try:
            self._link.send_bytes(json.dumps({"do": do, **given}).encode())
            if not self._link.poll(limit):
                self.close()
                raise SimulatorError(
                    f"habitat's process gave no answer in {limit:.0f} s ({do}, {self._what}) and"
                    f" was ended: {SECONDS} allows more."
                )
            answer: dict[str, Any] = json.loads(self._link.recv_bytes(_MOST_BYTES))
            image = b""
            if "dtype" in answer and self._link.poll(limit):
                image = self._link.recv_bytes(_MOST_BYTES)
        except (EOFError, OSError, ValueError) as error:
            raise self._died(do) from error
        if "error" in answer:
            raise self._refused(do, str(answer["error"]), str(answer.get("kind")))
        return answer, image

    @property
    def _what(self) -> str:
        return self.place.scene if self.place.scene != "NONE" else "no scene"

    def _refused(self, do: str, text: str, kind: str) -> SimulatorError:
        line = " ".join(text.split())[:300]
        if kind == "import":
            self.close()
            return SimulatorError(f"habitat_sim cannot be imported ({line}): {_INSTALL}.")
        if kind == "scene":
            self.close()
            return SimulatorError(f"habitat cannot open {self._what}: {line}{self._last()}")
        if kind == "navmesh":
            return SimulatorError(f"{self._what} has no navmesh: {line}.")
        if kind == "semantics":
            return SimulatorError(
                f"{self._what} has no ids: {line}. Name the config of the annotated release, or"
                " take a rig without ids."
            )
        self.close()
        return SimulatorError(f"habitat's process failed ({do}, {self._what}): {line}")

    def _died(self, do: str) -> SimulatorError:
        """Return the error for a process that died."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        code = self._child.poll()
        last = self._last()
        self.close()
        if "EGL" in last or "windowless context" in last:
            return SimulatorError(f"habitat cannot draw:{last} -- {_SCREEN}.")
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by {_signal(-code)}"
            if -code == signal.SIGKILL:
                how += ", perhaps for want of memory"
        return SimulatorError(f"habitat's process {how} ({do}, {self._what}).{last}")

    def _last(self) -> str:
        """Return its last lines of output, as the tail of a message."""
        with contextlib.suppress(OSError, ValueError):
            self._said.seek(0, os.SEEK_END)
            self._said.seek(max(0, self._said.tell() - _MOST_SAID))
            said = self._said.read().decode(errors="replace").splitlines()
            lines = [" ".join(each.split()) for each in said if each.strip() and _NOISE not in each]
            text = " / ".join(lines[-_LAST_LINES:])
            if text:
                return " It said: " + "".join(c for c in text if c.isprintable())[-400:]
        return ""

    def close(self) -> None:
        """End the process; closing twice is fine."""
        if not self.open:
            return
        self.open = False
        self._link.close()
        self._child.kill()
        self._child.wait()
        self._said.close()

    def forget(self) -> None:
        """Release the connection in a fork, where the process belongs to the parent."""
        self.open = False
        self._link.close()


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.strsignal(number)})"
    except ValueError:
        return f"signal {number}"


def _number(name: str, usual: float, least: float) -> float:
    given = os.environ.get(name, "").strip()
    try:
        value = float(given) if given else usual
    except ValueError:
        value = -1.0
    if not least <= value <= 1e6:
        raise SimulatorError(f"{name}={given}: expected a number from {least:g} on.")
    return value


def _seconds() -> float:
    return _number(SECONDS, _LIMIT_S, 1)


class _Pool:
    """Pool of processes, the most recently used at the end."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._kept: OrderedDict[OpenScene, HabitatProcess | None] = OrderedDict()

    @contextlib.contextmanager
    def process(self, place: OpenScene) -> Iterator[HabitatProcess]:
        """Yield the process of a scene for one request; others wait for it."""
        process = self._taken(place)
        try:
            yield process
        finally:
            process.lock.release()
            with self._lock:
                if not process.open and self._kept.get(place) is process:
                    del self._kept[place]
                self._lock.notify_all()

    def _taken(self, place: OpenScene) -> HabitatProcess:
        with self._lock:
            while True:
                found = self._kept.get(place)
                if found is not None and found.lock.acquire(blocking=False):
                    if found.open:
                        self._kept.move_to_end(place)
                        return found
                    found.lock.release()
                    del self._kept[place]
                elif place not in self._kept and self._room():
                    # Reserved during the start, so that no second one is started.
                    self._kept[place] = None
                    break
                else:
                    self._lock.wait(1.0)
        process = None
        try:
            process = HabitatProcess(place)
            process.lock.acquire()
            return process
        finally:
            with self._lock:
                if process is None:
                    self._kept.pop(place, None)
                else:
                    self._kept[place] = process
                self._lock.notify_all()

    def _room(self) -> bool:
        """Check whether one more may be started, after ending the longest idle one if needed."""
        most = int(_number(PROCESSES, _MOST, 1))
        for place, process in list(self._kept.items()):
            if len(self._kept) < most:
                break
            if process is not None and process.lock.acquire(blocking=False):
                process.close()
                process.lock.release()
                del self._kept[place]
        return len(self._kept) < most

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for process in self._kept.values():
                if process is not None:
                    process.close()
            self._kept.clear()

    def forget(self) -> None:
        """Release all processes in a fork; the parent goes on using them."""
        kept = list(self._kept.values())
        self.__init__()  # type: ignore[misc]
        for process in kept:
            if process is not None:
                process.forget()


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


def habitat_session(place: OpenScene) -> contextlib.AbstractContextManager[HabitatProcess]:
    """Return a context with the process that has a scene open, started if needed.

    Raises:
        SimulatorError: as :class:`HabitatProcess`.
    """
    return _pool.process(place)


def close_habitat() -> None:
    """End all processes of the pool."""
    _pool.close()
