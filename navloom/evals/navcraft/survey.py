"""Which of the scenes that a run was given it can craft tasks in, and why not in the others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from navloom.errors import RunError, SceneError
from navloom.scenes.scene import Scene
from navloom.scenes.terrain import has_geometry
from navloom.scenes.uri import list_scenes, load_scene
from navloom.tools.navcraft.errand import count_admissible_triples
from navloom.tools.navcraft.paths import least_hops

SURVEY = "scenes.json"
_BROKEN = "broken"
_MOST_NAMED = 3
_MOST_BROKEN = 10


@dataclass(frozen=True)
class Survey:
    """What was found.

    Attributes:
        scenes: the URI each scene that can be used is loaded by, by its portable name.
        skipped: why the others are left out, by name.
    """

    scenes: dict[str, str]
    skipped: dict[str, str] = field(default_factory=dict)

    def reasons(self) -> tuple[tuple[str, int], ...]:
        """How many scenes are left out for each reason, most frequent first."""
        counted = Counter(_kind(why) for why in self.skipped.values())
        return tuple(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))

    def lines(self) -> list[str]:
        """What a person should read: a line a reason, and one a broken scene."""
        known = len(self.scenes) + len(self.skipped)
        said = []
        for kind, count in self.reasons():
            names = [name for name, why in self.skipped.items() if _kind(why) == kind]
            more = ", ..." if count > _MOST_NAMED else ""
            named = f"{', '.join(names[:_MOST_NAMED])}{more}"
            said.append(f"skipped {count} of {known} scenes: {kind} ({named})")
        broken = [why for why in self.skipped.values() if _kind(why) == _BROKEN]
        said += [f"  {why}" for why in broken[:_MOST_BROKEN]]
        if len(broken) > _MOST_BROKEN:
            said.append(
                f"  and {len(broken) - _MOST_BROKEN} more, see {SURVEY} in the run's folder"
            )
        return said

    def data(self) -> bytes:
        """As a run's folder keeps it, in ``SURVEY``."""
        return (json.dumps(asdict(self), indent=1) + "\n").encode()


def _kind(why: str) -> str:
    """A reason to count by: what is broken in one file is broken in no other."""
    return _BROKEN if why.startswith(f"{_BROKEN}: ") else why


def survey(
    spec: str,
    *,
    tau: int,
    homes: int | None = None,
    driven: bool = False,
    note: Callable[[str], None] = lambda _: None,
) -> Survey:
    """Look at every scene of a spec.

    Args:
        spec: which scenes, as :func:`navloom.scenes.uri.list_scenes` takes them.
        tau: hops that each leg of an errand must have.
        homes: look at the first so many alone.
        driven: whether bodies have to drive there: a scene without geometry is left out.
        note: told what is going on.

    Raises:
        SceneError: there are no scenes, two have one name, the only one is broken, or no errand is
            possible in any.
    """
    uris = list_scenes(spec)[:homes]
    note(f"looking for possible errands in {len(uris)} scenes of {spec}")
    found = Survey({}, {})
    for uri in uris:
        try:
            scene = load_scene(uri)
        except SceneError as error:
            if len(uris) == 1:
                raise
            found.skipped[uri] = f"{_BROKEN}: {error}"
            continue
        if scene.uri in found.scenes or scene.uri in found.skipped:
            raise SceneError(f"{spec} holds two scenes named {scene.uri}: rename one")
        why = why_no_errand(scene, tau=tau)
        if driven and not has_geometry(scene):
            why = "there is no geometry to drive in"
        if why is None:
            found.scenes[scene.uri] = uri
        else:
            found.skipped[scene.uri] = why
    if not found.scenes:
        why = "; ".join(f"{name}: {said}" for name, said in list(found.skipped.items())[:3])
        raise SceneError(f"no errand is possible in any scene of {spec} ({why})")
    return found


def why_no_errand(scene: Scene, *, tau: int) -> str | None:
    """Why no errand is possible in a scene; None where one is."""
    for kind in ("object", "asset"):
        if not any(item.kind == kind and item.region for item in scene.items):
            return f"there are no {kind}s"
    if not count_admissible_triples(scene, tau):
        return (
            f"there are no start, target and end regions at least {least_hops(tau)} links apart "
            "with an object in the target and an asset in the end"
        )
    return None


def read_survey(folder: Path) -> Survey | None:
    """What a run's folder keeps of its survey; None where it keeps none.

    Raises:
        RunError: it is broken.
    """
    file = folder / SURVEY
    try:
        known = json.loads(file.read_bytes())
        found = Survey(dict(known["scenes"]), dict(known["skipped"]))
        named = [*found.scenes.values(), *found.skipped.values()]
        if not (found.scenes and all(isinstance(text, str) for text in named)):
            raise TypeError
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RunError(f"{file} is broken: delete it, and it is made anew") from None
    return found
