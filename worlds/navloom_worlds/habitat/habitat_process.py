"""Processes that hold habitat_sim: started, asked, kept for the next one, and ended.

A few are kept, one a scene that is open; when another scene is asked for, the one that was not
asked for longest ends. One that crashes, hangs or is killed is an error of whoever asked, in one
line, and the next question starts another. All end with this process.

    NAVLOOM_HABITAT_PYTHON     the Python that has habitat_sim, where that is not this one
    NAVLOOM_HABITAT_PROCESSES  how many are kept at most; 4
    NAVLOOM_HABITAT_SECONDS    how long an answer may take; 300
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
"""Habitat reads data/default.pbr_config.json of the folder that it is started in. This one's leaves
out the light of an environment, which takes 7 to 35 s to be made and no unlit scene shows."""
_MOST_BYTES = 300_000_000
_MOST_SAID, _LAST_LINES = 8_000, 3
_NOISE = "duplicate static plugin"
"""Said by every habitat_sim when it is imported."""
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
    """What a process has open.

    Attributes:
        config: a scene dataset's config.
        scene: the scene's handle in it.
        gpu: the device that is drawn on; -1 is any.
        modalities: which kinds of pictures it must be able to take.
        unlit: whether it is known that nothing in the scene is lit.
    """

    config: str
    scene: str
    gpu: int = -1
    modalities: tuple[str, ...] = ()
    unlit: bool = False


def lacking() -> str:
    """Why there is no habitat_sim, in one line; empty where nothing says so before it is started.

    Nothing is imported.
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
def check_drawing(gpu: int) -> str:
    """The version of habitat_sim, once it has drawn something; asked once for each device.

    Args:
        gpu: as :class:`OpenScene` has it.

    Raises:
        SimulatorError: there is no habitat_sim, or nothing to draw on.
    """
    process = HabitatProcess(OpenScene("default", "NONE", gpu, unlit=True))
    try:
        return str(process.ask("renderer")[0]["version"])
    finally:
        process.close()


class HabitatProcess:
    """One process, and what it has open.

    Args:
        place: what it is to open.

    Raises:
        SimulatorError: there is no habitat_sim, or it cannot be started.
    """

    def __init__(self, place: OpenScene) -> None:
        if why := lacking():
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
                # Ctrl-C is for who asks; without them it ends by itself.
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
        """The files of those that it has loaded."""
        try:
            told = asdict(place)
            del told["unlit"]  # its part is the folder that it is started in
            self.ask("enter", **told)
        except SimulatorError:
            self.close()
            raise

    def ask(self, do: str, **given: Any) -> tuple[dict[str, Any], bytes]:
        """An answer, and the bytes that come with a picture.

        Args:
            do: a method of ``Worker``.
            given: what it takes.

        Raises:
            SimulatorError: it cannot be done, or the process died or hung; it is over then.
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
        """What to say of a process that is no more."""
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
        """The last lines that it said, as the tail of a message."""
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
        """End it; closing twice is fine."""
        if not self.open:
            return
        self.open = False
        self._link.close()
        self._child.kill()
        self._child.wait()
        self._said.close()

    def forget(self) -> None:
        """In a fork: let go of what is another process's."""
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
    """The processes that are kept, the one that was asked last at the end."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._kept: OrderedDict[OpenScene, HabitatProcess | None] = OrderedDict()

    @contextlib.contextmanager
    def process(self, place: OpenScene) -> Iterator[HabitatProcess]:
        """The process of a place, for one question; whoever comes second waits."""
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
                    # Held while it is started, so that nobody starts a second one.
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
        """Whether one more may be started, after the one that was idle longest has ended."""
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
        """End all."""
        with self._lock:
            for process in self._kept.values():
                if process is not None:
                    process.close()
            self._kept.clear()

    def forget(self) -> None:
        """In a fork, whose parent goes on using them."""
        kept = list(self._kept.values())
        self.__init__()  # type: ignore[misc]
        for process in kept:
            if process is not None:
                process.forget()


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


def habitat_at(place: OpenScene) -> contextlib.AbstractContextManager[HabitatProcess]:
    """The process that has a place open, for one question or a few; started where none has.

    Raises:
        SimulatorError: as :class:`HabitatProcess`.
    """
    return _pool.process(place)


def close_habitat() -> None:
    """End every process that is kept."""
    _pool.close()
