"""Request of an evaluation of navigators: its settings and the options of its command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from navloom.errors import UsageError
from navloom.evals.option import FINER, Opt
from navloom.evals.request import HEURISTIC, RunRequest, Seed

if TYPE_CHECKING:
    from navloom.graphs.navigation.context import AgentSettings
    from navloom.scenes.bodies import Embodiment

_SPEC = "spec"
"""The only dataset option that is a location."""
TASK, BODY, AGENT, ORACLE = "The task", "The body", "The agent", "Help on the way"
"""Names of option groups in the help."""
NOTICEABLE_M = 0.1
"""Minimum displacement in metres that makes a contact a collision (VLNVerse 5.3)."""
Data = Annotated[
    str | None,
    Opt(
        "The dataset's folder, laid out as docs/real-data.md says.",
        metavar="DIR",
        env="NAVLOOM_DATA_DIR",
        shown="$NAVLOOM_DATA/mp3d",
        kind=Path,
        panel=TASK,
    ),
]
Split = Annotated[str | None, Opt("Which part of the dataset.", shown="val_unseen", metavar="NAME")]
Captions = Annotated[
    str | None,
    Opt(
        "A run of `navloom caption`, or a file of it. Its captions go before the dataset's or the"
        " home's own.",
        metavar="RUN",
        kind=Path,
    ),
]
Panoramas = Annotated[
    str | None,
    Opt(
        "Pictures from `navloom scenes render`, or Matterport's. The simulator is panorama then.",
        metavar="DIR",
        kind=Path,
        panel=FINER,
    ),
]
SceneDataset = Annotated[
    str | None,
    Opt(
        "A Habitat scene dataset's config that has the scenes. The simulator is habitat then.",
        metavar="FILE",
        kind=Path,
        panel=FINER,
    ),
]
Backend = Annotated[
    str,
    Opt(
        "The simulator. auto: embedded, which has pictures, where the scene has geometry, else"
        " graph, which has words alone; habitat where habitat_sim is installed.",
        metavar="NAME",
    ),
]

Body = Annotated[
    str | None,
    Opt(
        "Whose: WHEELCHAIR, VLNVERSE, FETCH, SPOT, ... or FILE.json#NAME of yours. Without, it is"
        " as slim as graphs of viewpoints assume. It matters with --physics and --waypoints body.",
        metavar="NAME",
        shown="a slim one",
        panel=BODY,
    ),
]
Physics = Annotated[
    Literal["off", "slide", "strict", "telhop"],
    Opt(
        "off, slide, strict or telhop: what a touch does. slide: it drives each hop and slides"
        " along what it touches; strict: a contact that displaces it ends the episode; telhop:"
        " only where it arrives must be free (VLNVerse 5.3); off: a hop touches nothing.",
        metavar="MODE",
    ),
]
Threshold = Annotated[
    float,
    Opt(
        "With --physics strict: metres of displacement that end the episode.",
        min=0.001,
        max=10.0,
        metavar="METRES",
        panel=FINER,
    ),
]
Waypoints = Annotated[
    Literal["slim", "body"],
    Opt(
        "Whose hops: the scene's own, or the body's. body: it can stand on every viewpoint and"
        " pass along every edge; what it cannot stand on or reach is left out, and said.",
        panel=BODY,
    ),
]
USUAL_BACKEND = "auto"


def resolve_backend(backend: str, panoramas: object, dataset: object = None) -> str:
    """Return the simulator backend that the options imply: panorama, habitat or as requested.

    Raises:
        UsageError: the requested backend contradicts an option.
    """
    for flag, given, meant in (
        ("--panoramas", panoramas, "panorama"),
        ("--scene-dataset", dataset, "habitat"),
    ):
        if given is None:
            continue
        if backend not in (USUAL_BACKEND, meant):
            goes = "go" if flag.endswith("s") else "goes"
            raise UsageError(
                f"{flag} {goes} with --backend {meant}, not {backend}: leave one of the two out"
            )
        backend = meant
    return backend


@dataclass(frozen=True, kw_only=True)
class EvalRequest(RunRequest):
    """All settings that the outcome of an evaluation depends on, and its file locations."""

    KIND: ClassVar[str] = "navigate"
    PLACES: ClassVar[Sequence[str]] = (
        *("data", "subset", "captions", "panoramas", "scene_dataset", "failures_from"),
    )
    DERIVED: ClassVar[frozenset[str]] = frozenset(
        {"settings", "prompt_files", "episodes", "scenes", "simulators"}
        | {"subset_ids", "caption_files", "panorama_files", "failure_examples"}
        | {"embodiment", "left_out"}
    )

    task: str
    """A dataset of :mod:`navloom.evals.tasks.registry`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the dataset itself, such as ``spec`` and ``n`` of generated homes."""
    seed: Seed = 0
    data: Data = None
    split: Split = None
    subset: Annotated[
        str | None,
        Opt(
            "Only the episodes of this index, as `navloom subset` writes it.",
            metavar="FILE",
            kind=Path,
        ),
    ] = None
    captions: Captions = None
    backend: Backend = USUAL_BACKEND
    """A simulator of :mod:`navloom.sim.registry`."""
    panoramas: Panoramas = None
    scene_dataset: SceneDataset = None
    epochs: Annotated[
        int,
        Opt("Try each episode so often; ids end in -e1, -e2, ...", min=1, max=1000, panel=FINER),
    ] = 1
    body: Body = None
    """Name of a body, or a file of bodies (:func:`navloom.scenes.bodies.resolve_body`)."""
    physics: Physics = "off"
    collision_threshold: Threshold = NOTICEABLE_M
    waypoints: Waypoints = "slim"
    agent: Annotated[
        str,
        Opt(
            "Or navgpt, mapgpt, random, shortest-path or human. The first two think with --model,"
            " over a history in text or a topological map; the others bring their own.",
            metavar="NAME",
            panel=AGENT,
        ),
    ] = "heuristic"
    """An agent of :mod:`navloom.graphs.navigation.context`."""
    model: Annotated[
        str,
        Opt(
            "Who navigates; see `navloom models`. An agent that brings its own keeps that.",
            metavar="PROVIDER/NAME",
            role="navigator",
        ),
    ] = HEURISTIC
    oracle_model: Annotated[str | None, Opt(role="oracle")] = None
    """Model of the oracle; by default the navigator's."""
    cot: Annotated[bool, Opt("Ask for reasoning before the action.")] = False
    reflect: Annotated[bool, Opt("Let the agent look at its action again and revise it.")] = False
    prompts: Annotated[
        Literal["navloom", "paper"],
        Opt(
            "Our prompt, or what VLN-MME prints. The paper's has no surroundings in words, and no"
            " angles or metres of options."
        ),
    ] = "navloom"
    scratchpad: Annotated[
        bool | None, Opt("Show earlier thoughts in the history (NavGPT).", shown="on with --cot")
    ] = None
    plan: Annotated[
        bool | None,
        Opt(
            "Keep a plan of several steps (MapGPT). With a map, places seen and out of reach are"
            " named, too.",
            shown="on for mapgpt",
        ),
    ] = None
    jump: Annotated[bool, Opt("Let the agent go back to any place it has stood on.")] = False
    blank_options: Annotated[
        bool, Opt("Leave the words of options out, to see what they are worth.", panel=FINER)
    ] = False
    act: Annotated[
        Literal["text", "tool"], Opt("Choose by a line of text or by a tool call.", panel=AGENT)
    ] = "text"
    views: Annotated[
        Literal[0, 4, 12, 24, 36],
        Opt("Pictures a step, where there are any: 0, 4, 12, 24, 36.", kind=int),
    ] = 4
    light: Literal["baked", "flat"] = "baked"
    """Light of images that the embedded backend renders. ``flat`` is faster and plainer."""
    max_steps: Annotated[int, Opt("Steps an episode at most.", min=1, max=1000)] = 15
    max_reasks: Annotated[
        int,
        Opt(
            "Bad replies sent back at each step. Each goes back with what is wrong with it.",
            min=0,
            max=100,
            panel=FINER,
        ),
    ] = 2
    max_revisions: Annotated[
        int, Opt("How often an action is revised, with --reflect.", min=0, max=100, panel=FINER)
    ] = 1
    motion: Literal["hops", "continuous"] = "hops"
    """Motion of a person: hops, or driving while keys are held, which needs ``physics`` slide."""
    dialogue: Annotated[bool, Opt("Let the agent ask an oracle.", panel=ORACLE)] = False
    max_questions: Annotated[
        int, Opt("Questions an episode at most.", min=0, max=1000, panel=FINER)
    ] = 3
    ask_cost: Annotated[int, Opt("Steps that a question costs.", min=0, max=1000, panel=FINER)] = 0
    oracle: Annotated[
        Literal["off", "assistant", "bound"],
        Opt(
            "Speak where the agent struggles, or at every step. assistant: where it loops, turns"
            " far off, enters a wrong region or would stop too early; bound: the shortest path's"
            " option at every step, the upper bound.",
            panel=ORACLE,
        ),
    ] = "off"
    oracle_knows: Annotated[
        Literal["model", "map", "path"],
        Opt(
            "What the oracle's model is given. model: what the agent sees (the papers' oracle);"
            " map: where the goal lies, too; path: the shortest way, too."
        ),
    ] = "model"
    oracle_arrival: Annotated[
        bool,
        Opt(
            "Let the oracle say whether it has arrived. Else such questions get no answer.",
            panel=FINER,
        ),
    ] = True
    oracle_budget: Annotated[
        int, Opt("How often the oracle speaks an episode at most.", min=0, max=1000, panel=FINER)
    ] = 3
    few_shot_failures: Annotated[
        int, Opt("Show so many failures of --failures-from.", min=0, max=3, panel=ORACLE)
    ] = 0
    failures_from: Annotated[
        str | None, Opt("The run to take failures from.", metavar="RUN", kind=Path)
    ] = None
    """Run to take failures from, except those of the episode itself, its path or its goal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        backend = resolve_backend(self.backend, self.panoramas, self.scene_dataset)
        object.__setattr__(self, "backend", backend)
        if bool(self.few_shot_failures) != (self.failures_from is not None):
            raise UsageError("few_shot_failures and failures_from go together: how many, of which")
        own = self.settings.oracle
        if own is not None and self.oracle not in ("off", own):
            raise UsageError(
                f"the agent {self.agent} brings its oracle ({own}) and takes no other: leave oracle"
                f" '{self.oracle}' out, or choose another agent"
            )
        from navloom.graphs.navigation.context import check_prompts

        check_prompts(self)
        if self.motion == "continuous" and (self.agent, self.physics) != ("human", "slide"):
            raise UsageError(
                "motion continuous is a person's who slides along what is in the way: give agent"
                " human and physics slide"
            )

    @property
    def settings(self) -> AgentSettings:
        """Registered settings of the agent."""
        from navloom.graphs.navigation.context import get_agent

        return get_agent(self.agent)

    @cached_property
    def embodiment(self) -> Embodiment:
        """Body of the agent.

        Raises:
            SceneError: the body is unknown.
        """
        from navloom.scenes.bodies import resolve_body

        return resolve_body(self.body)

    @property
    def uses_body(self) -> bool:
        """True if the body affects the outcome."""
        return self.physics != "off" or self.waypoints == "body"

    @property
    def navigator_model(self) -> str:
        """Model of the navigator; an agent's own model takes precedence."""
        return self.settings.model or self.model

    @property
    def oracle_mode(self) -> str:
        """Oracle mode; an agent's own oracle takes precedence."""
        return self.settings.oracle or self.oracle

    @property
    def models(self) -> Sequence[str]:
        """Models of the run: the navigator's, and the oracle's if it has a model of its own."""
        return [each for each in (self.navigator_model, self.oracle_model) if each is not None]

    def record(self) -> dict[str, Any]:
        """Return the request for ``run.json``, without fields that have no effect."""
        from navloom.graphs.navigation.prompt_text import PROMPTS
        from navloom.prompts.prompt_loader import load_prompt

        asked = super().record()
        asked["options"].pop(_SPEC, None)
        if self.uses_body:
            asked["embodiment"] = self.embodiment.model_dump(exclude={"description"})
            asked["body"] = self.body and self.embodiment.name
        for name in self.unused_fields():
            asked.pop(name)
        settings = self.settings
        prompts = [PROMPTS[self.prompts], *(["oracle"] if self.oracle_mode == "assistant" else [])]
        prompts += ["dialogue_oracle"] if self.dialogue else []
        prompts += ["which_thing"] if self.options.get("grounding") else []
        return {
            **asked,
            "model": self.navigator_model,
            "oracle": self.oracle_mode,
            "settings": {"memory": settings.memory},
            "prompt_files": [load_prompt(name).record for name in prompts],
        }

    def unused_fields(self) -> list[str]:
        """Return the fields without effect, because their feature is off."""
        asks = self.dialogue or self.oracle_mode == "assistant"
        used = {
            "oracle_model": asks and self.oracle_model is not None,
            "oracle_knows": asks,
            "oracle_arrival": asks,
            "max_questions": self.dialogue,
            "ask_cost": self.dialogue,
            "oracle_budget": self.oracle_mode == "assistant",
            "max_revisions": self.reflect,
            "few_shot_failures": self.few_shot_failures > 0,
            "body": self.uses_body,
            "physics": self.physics != "off",
            "collision_threshold": self.physics != "off",
            "waypoints": self.waypoints != "slim",
            "motion": self.motion != "hops",
        }
        return [name for name, matters in used.items() if not matters]

    def where(self) -> dict[str, str]:
        """Return the locations of the files on this machine."""
        spec, file = self.options.get(_SPEC), self.body is not None and ".json" in self.body
        own = {_SPEC: spec, "body": self.body if file and self.uses_body else None}
        return super().where() | {name: str(each) for name, each in own.items() if each is not None}

    @classmethod
    def restored(cls, given: dict[str, Any], where: Mapping[str, str]) -> dict[str, Any]:
        """Return the original fields, with the spec of homes among the dataset options."""
        if given.get("oracle") == "path":
            raise UsageError(
                "its oracle is 'path', which is no more: 'bound' names the path's option at every"
                " step. Make the run anew"
            )
        place = {_SPEC: where[_SPEC]} if _SPEC in where else {}
        return super().restored({**given, "options": {**given.get("options", {}), **place}}, where)
