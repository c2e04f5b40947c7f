"""Table of cases for ``tests.behaviour.record``; each case is a list of commands, one per line.

A command is written as it is typed after ``navloom``. ``< FILE`` after it feeds it a file. A line
that begins with ``!`` runs in the shell. ``$DATA`` stands for ``$NAVLOOM_DATA``. Every case starts
in a folder that contains ``FILES`` and nothing else.
"""

from __future__ import annotations

from itertools import product

FILES = {
    "talk.txt": """\
go to the kitchen
what do you see?
where are you?
no, the study
/map
is there a fridge near?
which rooms are there?
go to the bedroom
2
/undo
turn left
go forward 3 m
take me to the sofa
come back
go through the door on your right
/map walk.png
/save walk
/replay walk.json
/model
/model builtin/nobody
/help
/nonsense
go to the moon

/replay
/quit
""",
    "stairs.txt": "go upstairs\ngo to the bathroom\nthe nearest\ngo downstairs\n/save down\n",
    "back.txt": "where are you?\ncome back\n",
    "moves.txt": "1\n2\n9\nstop\n" * 9,
    "walk.yaml": "spec: 'demo:'\nn: 4\nprofile: [child, none]\n",
    "who.yaml": """\
{Age: 41, Gender: Male, Marital Status: Single, Occupation: Nurse, Lifestyle Description: You cook.}
""",
    "own.yaml": """\
name: own
version: 1
description: A rubric of one's own.
criteria:
  - {id: brief, question: "Is it brief?", if_yes: one sentence, if_no: several, if_na: nothing}
""",
    "reasons.jsonl": """\
{"id": "q7", "explanation": "The door is too narrow.", "record": {"edges": [{"from": "n1", \
"to": "n2", "from_name": "Hall", "to_name": "Bath", "exists": true, "traversable": false, \
"note": "door too narrow"}]}}
{"id": "q8", "explanation": ""}
no json
""",
    "rooms/home-a.yaml": """\
rooms:
  room_1: {label: kitchen, centroid: {x: 1.5, y: 1.25, z: -2.0}, dims: {x: 3.0, y: 2.5, z: 4.0}}
  room_4: {label: office, centroid: {x: 4.5, y: 1.25, z: -2}, dims: {x: 3.0, y: 2.5, z: 4.0}}
connections: [[1, 4], [4, 1]]
""",
    "objects/home-a.txt": """\
Region id:_3, position:[0. 0. 0.]
Id:7, name:kitchen table, position:[1.0, 0.4, -2.5]
Id:8, name:box, with a lid, position:[1e-05, 0.9, -2.5]
""",
}

HOMES = {"demo": ("demo:", 12), "hm3d": ("hm3d:$DATA/hm3d", 20), "mp3d": ("mp3d:$DATA/mp3d", 20)}
QUESTIONS = {"demo": "demo:", "benchmark": "capnav:$DATA/capnav"}
BASELINES = ("heuristic", "random")
SWITCHES = {
    "plain": "",
    "cot": "--cot",
    "reflect": "--reflect",
    "both": "--cot --reflect",
    "all": "--cot --reflect --plan --act tool --dialogue --oracle assistant",
}
RULES = "--model builtin/heuristic"
COMMANDS = """
scenes, scenes list, scenes show, scenes export, scenes edit, scenes sheet, scenes compare,
scenes annotate, scenes import, scenes import hm3d, demo, synth, synth capnav,
synth single, synth collab, eval, eval r2r,
eval reverie, eval objectnav, eval scene, eval dialogue, eval capnav, eval capnav-truth, subset,
score, compare, caption, chat, judge, judge reasoning, judge trace, judge failures, judge calibrate,
judge calibrate reasoning, judge calibrate trace, retry, study, study relays, study profiles,
study ablation, study oracle, export, validate, report, models, serve, cache, cache info,
cache prune, doctor
"""
FIRST_PROMPTS = [
    *(
        f"synth {kind} {spec} {'--questions' if kind == 'capnav' else '--n'} 4{compact}"
        for kind, spec, compact in product(
            ("single", "collab", "capnav"), ("demo:", "hm3d:$DATA/hm3d"), ("", " --compact")
        )
    ),
    "synth collab demo: --n 5 --profile all --strict-helper --tau 3",
    "synth capnav capnav:$DATA/capnav --questions 4 --balance",
    *(
        f"eval scene demo: --n 3 --agent {agent} {switch}"
        for agent, switch in product(("navgpt", "mapgpt"), SWITCHES.values())
    ),
    "eval r2r --limit 3",
    "eval reverie --limit 3",
    "eval objectnav --n 9 --limit 3",
    "eval capnav --limit 3",
    "eval capnav --limit 3 --thinking",
    "caption demo:flat --limit 3",
    "judge reasoning reasons.jsonl",
    "judge calibrate reasoning demo: --n 8",
    "judge calibrate reasoning --n 8 --injections",
]
"""Commands whose ``--dry-run`` prints the prompts of their first calls."""
SEVERAL = "--seed 3 --max-connections 4"


def dry(lines: list[str], how: str) -> str:
    """Return the dry-run commands of some command lines."""
    return "\n".join(f"{line} --out q --dry-run {how}" for line in lines)


def crafted(spec: str, kind: str, n: int, model: str, more: str = "") -> str:
    """Return commands that make a dataset, export it and validate it."""
    return f"""
        synth {kind} {spec} --n {n} {SEVERAL} --model builtin/{model} {more} --out runs/a
        export runs/a --out tasks.jsonl
        validate tasks.jsonl
    """


def asked(spec: str, n: int, model: str, more: str = "") -> str:
    """Return commands that generate CapNav questions and report on them."""
    return f"""
        synth capnav {spec} --questions {n} {SEVERAL} --model builtin/{model} {more} --out runs/a
        report runs/a
    """


def walked(task: str, *settings: str) -> str:
    """Return one evaluation of a task per setting, and comparisons of each with the first."""
    runs = [f"eval {task} {each} --out runs/{at}" for at, each in enumerate(settings)]
    return "\n".join([*runs, *(f"compare runs/0 runs/{at}" for at in range(1, len(settings)))])


CASES: dict[str, str] = {
    "help": "\n".join(f"{name.strip()} --help" for name in ("", *COMMANDS.split(","))),
    "house": """
        --version
        models
        models --json
        doctor
        cache info
        cache prune
        serve Qwen/Qwen3-8B --print
        serve Qwen/Qwen2.5-VL-7B-Instruct --port 8001 --print -- --tensor-parallel-size 2
    """,
    "scenes": """
        scenes list
        scenes list demo: --json
        scenes list hm3d:$DATA/hm3d
        scenes list mp3d:$DATA/mp3d
        scenes list capnav:$DATA/capnav --json
        scenes show demo:villa --out villa.svg
        scenes show demo:flat --json
        scenes show hm3d:$DATA/hm3d/00022-gmuS7Wgsbrx
        scenes show mp3d:$DATA/mp3d/2azQ1b91cZZ
        scenes show demo:house --prompt
        scenes show hm3d:$DATA/hm3d/00006-HkseAnWCgqk --prompt
        scenes show mp3d:$DATA/mp3d/gZ6f7yhEvPG --prompt --out plan.png
        scenes show capnav:$DATA/capnav/HM3D00010 --prompt
        scenes export demo:house --out house.json
        scenes show home:7
        scenes export home:8-9 --out made
        scenes edit home:7 --remove sofa --out changed.json
        scenes edit demo:flat --move fridge@Study_6 --close 'Entryway_1<->Bathroom_5' --out odd.json
        scenes export hm3d:$DATA/hm3d/00016-qk9eeNeR4vw --out hm3d.json
        scenes export mp3d:$DATA/mp3d/X7HyMhZNoso --out mp3d.json
        scenes export capnav:$DATA/capnav/HM3D00003 --out capnav.json
        scenes show mp3d.json
        scenes import hm3d --rooms rooms --objects objects --out homes
        scenes list hm3d:homes
    """,
    "annotate": """
        scenes annotate demo: --evaluate
        scenes annotate demo: --evaluate --json
        scenes annotate hm3d:$DATA/hm3d --evaluate
        scenes annotate hm3d:$DATA/hm3d --evaluate --seed 3 --model builtin/random
        scenes annotate demo: --out annotated
        scenes annotate mp3d:$DATA/mp3d/2azQ1b91cZZ --out scan.json
    """,
    **{
        f"synth-{kind}-{name}-{model}": crafted(spec, kind, n, model)
        for kind, (name, (spec, n)), model in product(
            ("single", "collab"), HOMES.items(), BASELINES
        )
    },
    **{
        f"synth-{kind}-{name}-compact": crafted(spec, kind, 6, "heuristic", "--compact")
        for kind, (name, (spec, _)) in product(("single", "collab"), HOMES.items())
    },
    "synth-compact-random": crafted("demo:", "collab", 6, "random", "--compact"),
    "synth-profiles": crafted("demo:", "single", 12, "heuristic", "--profile all --tau 3")
    + """
        synth collab --from runs/a --strict-helper --out runs/b
        export runs/b --out relays.jsonl
        validate relays.jsonl --json
        ! sed 's/Kitchen/Bathroom/; s/"alpha": 0/"alpha": 0.1/' relays.jsonl > wrong.jsonl
        validate wrong.jsonl
        validate wrong.jsonl --json
        report runs/a runs/b
        report runs/b --json --out both
    """,
    "synth-report": crafted("hm3d:$DATA/hm3d", "collab", 8, "heuristic") + "report runs/a",
    **{
        f"questions-{name}-{model}": asked(spec, 20, model)
        for (name, spec), model in product(QUESTIONS.items(), BASELINES)
    },
    "questions-compact": asked("demo:", 8, "heuristic", "--compact --balance")
    + "report runs/a --json",
    "questions-homes": asked("hm3d:$DATA/hm3d", 12, "heuristic", "--balance --qa qa"),
    "teams": """
        synth team --help-all
        study teams --help-all
        synth team demo:house --n 3 --tools library --out q --dry-run
        synth team demo:house --n 3 --compact --choices blind --out q --dry-run --json
        synth team demo: --n 6 --seed 3 --limit 2 --max-metres 25 --out runs/a
        synth team demo: --n 6 --seed 3 --max-metres 25 --out runs/a
        synth team demo:house --n 3 --model builtin/random --tools none --by longest --out runs/b
        synth team home:0-1 --n 4 --bodies FETCH,SPOT --by alpha --out runs/c
        synth team demo: --n 4 --compact --model builtin/first --choices blind --out runs/d
        synth team demo: --n 4 --bodies NOBODY --out runs/e
        export runs/a --out team.jsonl
        validate team.jsonl
        ! sed 's/"makespan_s": 1/"makespan_s": 11/; s/robot_2/robot_9/' team.jsonl > wrong.jsonl
        validate wrong.jsonl
        report runs/a runs/b --out both
        compare runs/a runs/b
        retry runs/a
        study teams demo:house --n-each 1 --errands 2 --robots 3 --out runs/f
        study teams demo:house --n-each 1 --errands 2 --robots 3 --out runs/f --json
        synth collab demo:flat --n 2 --verify-sim --out runs/g
        synth collab demo: --n 3 --tools library --model builtin/random --out runs/h
    """,
    "demo": "demo --out demo",
    "resumed": """
        synth collab demo: --n 9 --seed 3 --limit 2 --out runs/a
        synth collab demo: --n 9 --seed 3 --token-limit 30000 --out runs/a
        synth collab demo: --n 9 --seed 3 --out runs/a --json
        synth collab demo: --n 8 --out runs/a
        export runs/a --out tasks.jsonl
        synth single --run-config walk.yaml demo: --out runs/b
        synth single demo: --n 3 --profile who.yaml --out runs/d
        synth single demo: --n 6 --sample-id demo-flat-00001 --out runs/c
    """,
    **{
        f"eval-scene-{kind}": walked(f"scene demo: --n 6 --kind {kind}", "", "--agent random")
        for kind in ("fine", "goal", "object")
    },
    **{
        f"eval-{agent}": walked(f"scene demo: --n 6 --agent {agent} {RULES}", *SWITCHES.values())
        for agent in ("navgpt", "mapgpt")
    },
    "eval-scene": walked(
        "scene demo: --n 6",
        "",
        "--oracle assistant",
        "--oracle bound",
        "--dialogue --seed 5",
        "--agent shortest-path",
        "--epochs 2",
        "--max-steps 4",
    )
    + """
        eval scene demo: --n 2 --json
        report runs/0
        report runs/0 --json
        score runs/0
        compare runs/0 runs/1 --json --by episode
        eval scene demo: --n 3 --few-shot-failures 2 --failures-from runs/0 --out runs/few
        eval scene demo:flat --n 2 --agent human --out runs/me < moves.txt
    """,
    "eval-hm3d": walked("scene hm3d:$DATA/hm3d --n 20", "", f"--agent mapgpt --cot {RULES}"),
    "eval-r2r": walked("r2r --limit 100", "", "--agent random")
    + """
        score runs/0 --json
        subset r2r --failed-by runs/0 runs/1 --n 9 --out hard.json
    """,
    "eval-r2r-agents": walked(
        "r2r --limit 30",
        f"--agent mapgpt {RULES}",
        f"--agent navgpt {RULES} --cot --reflect",
        "--oracle assistant",
    ),
    "eval-reverie": walked("reverie --limit 20", "", "--dialogue", "--goals visible")
    + "\nreport runs/1",
    "eval-objectnav": walked("objectnav --n 60 --limit 20", "", "--agent random"),
    "eval-dialogue": """
        eval dialogue --limit 6 --out runs/a
        report runs/a/ask
        eval dialogue --limit 4 --agent mapgpt --cot --model builtin/heuristic --json --out runs/b
    """,
    **{
        f"capnav-{model}": f"""
            eval capnav --limit 100 --model builtin/{model} \
                --model-role judge=builtin/heuristic --out runs/a
            eval capnav --limit 60 --model builtin/{model} --official-compat --out runs/b
            eval capnav --limit 60 --model builtin/{model} --seed 3 --partial \
                --model-role judge=builtin/heuristic --out runs/c
            report runs/a runs/b runs/c
            report runs/a --json
            judge reasoning runs/b/answers.jsonl --out runs/j
            judge reasoning runs/b/answers.jsonl --dry-run --json
        """
        for model in (*BASELINES, "always-no")
    },
    "capnav-truth": """
        eval capnav-truth
        eval capnav-truth --compat-edges --why
        eval capnav-truth --why --json
        eval capnav-truth --scene HM3D00010 --scene MP3D00025
        eval capnav --scene HM3D00010 --keep-hallucinated --limit 6 --json --out runs/a
    """,
    "judge": """
        eval scene demo: --n 3 --cot --out runs/a
        judge trace runs/a --out runs/t
        judge trace runs/a --limit 3 --dry-run --json
        judge trace runs/a --limit 3 --dry-run
        judge trace runs/a --json
        judge failures runs/a --out runs/f
        judge failures runs/a --dry-run
        judge reasoning reasons.jsonl --out runs/r
        judge reasoning reasons.jsonl --json
        judge calibrate trace runs/a --n 24 --out runs/c
        judge calibrate trace runs/a --n 16 --seed 3 --json
    """,
    "calibrate": """
        judge calibrate reasoning --n 60 --out runs/a
        judge calibrate reasoning demo: --n 24 --seed 3 --json --out runs/b
        judge calibrate reasoning --injections --n 30 --out runs/c
    """,
    "study-relays": "study relays demo: --n-each 6 --seed 3 --out relays",
    "study-profiles": "study profiles demo: --homes 2 --out profiles",
    "study-ablation": """
        study ablation demo: --model builtin/heuristic --n-each 2 --n-full 3 --out arms \
            --arm full --arm 'whole scene' --arm 'no adjacency' --arm 'whole answer'
        study ablation demo: --model builtin/heuristic --n-each 2 --n-full 3 --out all
    """,
    "study-direct": "study direct demo: --model builtin/heuristic --n-each 3 --out direct",
    "study-oracle": "study oracle r2r --limit 8 --arm assistant-path --arm dialogue-map"
    " --arm dialogue-path-no-arrival --arm failures-1 --arm bound --out help",
    "score": """
        score $DATA/mp3d/trajectories/prevalent_val_unseen.json
        score $DATA/mp3d/trajectories/prevalent_val_unseen.json --json --by episode --seed 3
    """,
    "subset": """
        subset r2r --n 20 --out r2r.json --picture r2r.png --seed 3
        subset reverie --n 12 --json
        subset objectnav --n 12 --out things.json
        subset scene --scenes demo: --kind fine --n 4 --out fine.json
        eval r2r --subset r2r.json --limit 5 --out runs/a
        eval scene demo: --kind fine --subset fine.json --out runs/b
    """,
    "caption": """
        caption demo: --out runs/a
        caption hm3d:$DATA/hm3d/00031-Wo6kuutE9i7 --out runs/b
        caption mp3d:$DATA/mp3d/8194nk5LbLH --job summary --model builtin/random --out runs/c
        eval scene demo: --n 3 --captions runs/a --out runs/d
        chat demo:house --captions runs/a < back.txt
        chat demo:house --captions runs/b < back.txt
    """,
    "chat": """
        chat demo:house < talk.txt
        chat demo:villa --display none < stairs.txt
        chat demo:flat --thread one --threads kept --start 5_0 < back.txt
        chat demo:flat --thread one --threads kept < back.txt
        chat hm3d:$DATA/hm3d/00006-HkseAnWCgqk --seed 3 < back.txt
        chat mp3d:$DATA/mp3d/X7HyMhZNoso < back.txt
    """,
    "dry-json": dry(FIRST_PROMPTS, "--json"),
    "dry-text": dry(FIRST_PROMPTS[::4], ""),
    "dry-prices": """
        synth collab demo: --n 20 --model openai/gpt-4o-mini --dry-run --out q
        eval scene demo: --n 6 --agent mapgpt --model anthropic/claude-haiku-4-5 --dry-run --json
    """,
    "mistakes-scenes": """
        nonsense
        scenes show demo:vila
        scenes show demo:
        scenes show hm4d:x
        scenes show hm3d:../../etc/passwd
        scenes list nowhere
        scenes annotate demo:flat
        scenes export demo:flat --out rooms
        chat demo:flat --start nowhere
        chat demo:flat --model gpt-4o
        caption demo:flat --out reasons.jsonl
        cache prune --older-than soon
    """,
    "mistakes-synth": """
        synth singel demo:
        synth single demo:flat
        synth single demo:flat --out q --n 0
        synth single demo:flat --out q --tau 99
        synth single demo:flat --out q --profile lawer
        synth single demo:flat --out q --model gpt-4o
        synth single demo:flat --out q --model openai/x
        synth single demo:flat --out q --model vllm/x
        synth single demo:flat --out q --sample-id x
        synth collab --out q
        synth collab --from nowhere --out q
        export nowhere --out x.jsonl
        report .
        report nowhere
        retry nowhere
        validate nowhere.jsonl
        validate reasons.jsonl
    """,
    "mistakes-eval": """
        eval scene demo: --agent nobody --out q
        eval scene demo: --model-role nobody=builtin/random --out q
        eval scene demo: --model builtin/heuristc --agent navgpt --out q
        eval r2r --split train2
        eval r2r --data nowhere
        eval capnav --data nowhere
        eval capnav --scene nobody --out q
        eval capnav --bodies reasons.jsonl --out q
        compare nowhere nowhere
        score reasons.jsonl --json
        subset r2r
        subset r2 --n 3
        study ablation demo: --out q
        judge trace nowhere
        judge failures nowhere
        judge reasoning nowhere.jsonl
        judge trace reasons.jsonl --rubric no.yaml
    """,
}
"""Commands of each case, by its name."""

CALL, FIT = "(the first tool, called)", "(the least that fits)"
SERVED = "--model vllm/served --max-retries 0"
TO_ANTHROPIC = SERVED.replace("vllm/", "anthropic/")
TO_OPENAI = SERVED.replace("vllm/served", "openai/gpt-4o-mini")
WIRES: dict[str, tuple[tuple[str | int, ...], str]] = {
    "wire-synth": (
        ("I would rather not.", CALL, "{}", FIT),
        f"""
        synth single demo:flat --n 2 {SERVED} --out runs/a
        synth single demo: --n 4 --out runs/s
        synth collab --from runs/s {SERVED} --out runs/b
        synth collab --from runs/s {SERVED} --compact --out runs/c
        synth collab demo:flat --n 2 --compact {SERVED} --out runs/d
        synth capnav demo:flat --questions 1 --max-rounds 1 {SERVED} --out runs/e
        synth capnav demo:flat --questions 1 --max-rounds 1 --compact {SERVED} --out runs/f
        synth single demo:flat --n 2 {TO_ANTHROPIC} --out runs/g
        synth single demo:flat --n 1 {TO_OPENAI} --no-constrain --out runs/h
        synth single demo:flat --n 2 {SERVED} --out runs/i
        cache info
        """,
    ),
    "wire-eval": (
        ("Thought: so.\nAction: 1", "Action: 99", CALL, FIT, "Action: Stop."),
        "\n".join(
            f"eval scene demo: --n 2 --agent {agent} {switch} {SERVED} --max-steps 4"
            f" --out runs/{agent}-{name}"
            for agent, (name, switch) in product(("navgpt", "mapgpt"), SWITCHES.items())
        )
        + f"""
        eval scene demo: --n 2 --agent navgpt {TO_ANTHROPIC} --act tool --out runs/tool
        eval r2r --limit 2 --agent navgpt {SERVED} --out runs/r2r
        eval capnav --limit 3 --model-role judge=vllm/judge {SERVED} --out runs/capnav
        eval capnav --limit 2 --thinking {SERVED} --out runs/thinking
        eval scene demo: --n 2 --dialogue --oracle assistant --model-role oracle=vllm/oracle \
            --out runs/oracle
        """,
    ),
    "wire-others": (
        ("No.", CALL, FIT, '{"summary": "A room."}'),
        f"""
        caption demo:flat --limit 2 {SERVED} --out runs/a
        chat demo:house --model vllm/served < stairs.txt
        judge reasoning reasons.jsonl {SERVED} --out runs/b
        eval scene demo: --n 1 --cot --out runs/c
        judge trace runs/c --limit 2 {SERVED} --out runs/d
        judge trace runs/c --limit 1 --rubric own.yaml {SERVED} --out runs/e
        scenes annotate demo:flat --evaluate --model vllm/served
        caption demo:flat --limit 1 {SERVED} --cache kept --out runs/f
        caption demo:flat --limit 1 {SERVED} --cache kept --max-reasks 0 --out runs/g
        caption demo:flat --limit 1 {SERVED} --no-cache --out runs/h
        cache info --cache kept
        cache prune
        """,
    ),
    "wire-broken": (
        (500, 400, "{}", 500),
        f"""
        synth single demo:flat --n 3 --max-turns 2 {SERVED} --out runs/a
        retry runs/a --max-retries 0
        retry runs/a --max-retries 0 --json
        eval scene demo: --n 3 --agent navgpt {SERVED} --out runs/b
        report runs/b
        synth single demo:flat --n 2 {TO_OPENAI} --cost-limit 0.000001 --out runs/c
        synth single demo:flat --n 2 {SERVED} --cost-limit 1 --out runs/d
        """,
    ),
}
"""Cases with a model server: its replies, repeated in this order, and the commands."""
