"""The report of navigation runs, and failure examples mined from them."""

import json
from dataclasses import replace

import pytest

from navloom.cli.main import main
from navloom.errors import RunError, UsageError
from navloom.evals.navigation.episode_detail import detail
from navloom.evals.navigation.episode_display import (
    EpisodeEntry,
    pick_episodes,
    pointed_notes,
    read_case,
)
from navloom.evals.navigation.failure_analysis import analyse, read_tags
from navloom.evals.navigation.results import _behaviours, failures, tables, write_report
from navloom.evals.navigation.run import (
    MOST_CHARACTERS,
    choose_examples,
    mine_failures,
    read_examples,
)
from navloom.evals.report.block_chart import chart_png
from navloom.evals.report.blocks import Grid, SceneMap, Transcript
from navloom.evals.report.report_files import blocks_to_markdown
from navloom.evals.run_folder import read_samples
from navloom.scenes.plan_data import plan_data
from navloom.scenes.plan_svg import plan_drawing
from navloom.scenes.scene_uri import load_scene
from tests.evals.navigation.walks import (
    PATH,
    SAID,
    count_failures,
    episode,
    line,
    result,
    run_folder,
    scene,
)
from tests.web.one_file import documents_of, opens_on, said_in

LOOP = ("1_0", "1_1", "1_2", "1_0", "1_3", "1_4", "1_0")
KITCHEN = (*PATH[:4], "2_1", "3_0")
HOSTILE = '<script>alert("x")</script> & {{ 7 * 7 }} $x_1$'


def some(*walks, **other):
    return [
        line(episode(id=f"e{k}", **other), result(*walk), f"s{k}") for k, walk in enumerate(walks)
    ]


@pytest.fixture
def run(tmp_path):
    """Two successes and three failures; the last has hostile words everywhere."""
    lines = some(PATH, PATH[:-1], LOOP, KITCHEN, PATH[:3])
    how = result(*PATH[:2], end="unparsed")
    how["steps"].append({
        "options": [{"id": 1, "viewpoint": "2_6", "direction": HOSTILE, "description": HOSTILE}],
        "reply": HOSTILE,
        "reasoning": HOSTILE,
        "action": {"kind": "ask", "question": HOSTILE},
        "faults": [{"kind": HOSTILE}, f"refusal: {HOSTILE}"],
        "asked": {"question": HOSTILE, "answer": HOSTILE, "leaked": True},
        "oracle": {"trigger": HOSTILE, "question": None, "answer": HOSTILE, "leaked": False},
    })  # fmt: skip
    hostile = episode(f"{SAID} {HOSTILE}", id="e9")
    return run_folder(tmp_path / "run", [*lines, line(hostile, how, "s9")], note=HOSTILE)


@pytest.mark.parametrize(
    ("named", "words", "bad"),
    [
        ("7", "named 7 (side table) of 2 in sight; meant is 7 (table)", False),
        ("9", "named 9 (<b>) of 2 in sight; meant is 7 (table)", True),
        (None, "named none of 2 in sight; meant is 7 (table)", True),
        (["7"], "named none of 2 in sight; meant is 7 (table)", True),
    ],
)
def test_the_last_step_says_which_thing_was_named(named, words, bad, tmp_path):
    walked = result(*PATH)
    walked["pointed"] = {"object": named, "offered": {"7": "side table", "9": "<b>"}, "faults": []}
    about = episode(columns={"object": 7, "object_name": "table"})
    said = line(about, walked, "s1")
    case = read_case(said, analyse(walked, about, scene(), success=True))
    (note,) = pointed_notes(case)
    assert (note.who, note.words, note.bad) == ("which thing", words, bad)
    last = seen_map(run_folder(tmp_path / "run", [said])).frames[-2]
    told = [each for block in last.blocks if isinstance(block, Transcript) for each in block.said]
    assert [each.text for each in told if each.who == "which thing"] == [words]


@pytest.mark.slow
def test_the_page_says_what_happened(run):
    assert [file.name for file in write_report(run).files] == ["report.md", "errors.png"]
    assert main(["report", str(run)]) == 0
    page = run / "report.html"
    scores = said_in(page, "source/0/tab/scores")
    assert opens_on(page) == "#/source/0/scores"
    assert "scene test: 2 of 6 episodes succeeded (33.3%)." in scores
    assert "a baseline and no language model: R2R-tuned rules: " in scores
    wrong = said_in(page, "source/0/tab/failures")
    assert "early stop (elsewhere); cause: region" in wrong
    assert "Behaviours by cause: of 6 episodes 4 failed, 2 succeeded" in wrong
    found = documents_of(page)
    (cases,) = [
        each
        for each in found["source/0/tab/failures"]
        if each.get("table", {}).get("title") == "Episodes to look at"
    ]
    assert len(cases["to"]) == 6
    for to, (name, ended, _) in zip(cases["to"], cases["table"]["rows"], strict=True):
        shown = found[f"source/0/{to}"]
        assert (shown["title"], shown["headline"]) == (name, ended)
        (plan,) = [each for each in shown["blocks"] if each["block"] == "SceneMap"]
        assert found[f"plan/{plan['plan']}"]["floors"]
        # Views are made of the episodes to look at, though the model was shown none.
        assert plan["frames"][0]["strip"][0]["data"].startswith("data:image/jpeg;base64,")
    assert "first deviation" in said_in(page, "source/0/sample")
    assert (run / "errors.png").read_bytes().startswith(b"\x89PNG")
    assert "| loop (revisits 1) |" in (run / "report.md").read_text()


@pytest.mark.slow
def test_what_was_said_is_text_and_never_markup(run):
    assert main(["report", str(run)]) == 0
    text, said = (run / "report.html").read_text(), said_in(run / "report.html")
    assert "alert(" not in text
    assert json.dumps(HOSTILE)[1:-1] in said
    assert "{{ 7 * 7 }}" in said
    assert "& 49 $" not in said
    assert "<script" not in (run / "report.md").read_text()


@pytest.mark.slow
def test_equal_runs_make_equal_reports(run, tmp_path):
    pages = []
    for name in ("one", "two"):
        assert main(["report", str(run), "--out", str(tmp_path / name)]) == 0
        pages.append((tmp_path / name / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_tables_count_each_episode_once(run):
    tables = {
        each.table.title: each.table for each in write_report(run).blocks if isinstance(each, Grid)
    }
    wrong = tables["What went wrong"]
    assert [row[0] for row in wrong.rows] == [
        "generation error (refusal 1)",
        "loop (revisits 1)",
        "early stop (off the right way 2, on the right way 1)",
        "all",
    ]
    assert [row[-3] for row in wrong.rows] == ["1", "1", "2", "4"]
    assert [row[-1] for row in wrong.rows] == ["1", "1", "3", ""]
    assert tables["Scores"].rows[2][:2] == ("SR", "33.3%")
    assert "Within successes" in tables


def test_a_run_without_episodes_is_a_page_too(tmp_path):
    empty = run_folder(tmp_path / "empty", [])
    assert main(["report", str(empty)]) == 0
    said = said_in(empty / "report.html")
    assert "no episode has ended" in said
    assert "What went wrong" not in said


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(RunError, match="not a run"):
        write_report(tmp_path)


def test_a_scene_that_is_gone_costs_its_plans_alone(tmp_path):
    (gone,) = some(KITCHEN)
    gone["scene"] = gone["result"]["episode"]["scene"] = "demo:gone"
    run = run_folder(tmp_path / "run", [gone])
    assert main(["report", str(run)]) == 0
    assert "There is no plan of demo:gone: " in said_in(run / "report.html", "source/0/sample")
    assert "Behaviours by cause" in said_in(run / "report.html", "source/0/tab/failures")


def test_tags_that_are_missing_are_worked_out(tmp_path):
    (plain,) = some(KITCHEN)
    plain["result"]["tags"] = {"behaviour": ["none"], "cause": "a ghost"}
    (wrong,) = [
        each.table
        for each in failures(run_folder(tmp_path / "run", [plain]))
        if isinstance(each, Grid) and each.table.title == "What went wrong"
    ]
    assert wrong.rows[0][wrong.header.index("region")] == "1"


def test_twelve_episodes_are_of_every_kind():
    lines = [
        *some(*[PATH] * 20, *[KITCHEN] * 20, LOOP),
        line(episode(id="t"), result("1_0", "2_0", end="max_steps"), "t"),
    ]
    cases = [EpisodeEntry.of(each, read_tags(each["result"]["tags"])) for each in lines]
    chosen = pick_episodes(cases)
    assert len(chosen) == 12
    assert len({case.id for case in chosen}) == 12
    assert {case.behaviour for case in chosen} == {"loop", "time_out", "early_stop", "none"}
    assert sum(case.success for case in chosen) == 4
    assert len(pick_episodes(cases[:3])) == 3


def seen_map(run, told=None):
    told = told or read_samples(run)[0]
    return next(block for block in detail(run, told).blocks if isinstance(block, SceneMap))


def test_the_steps_of_an_episode(tmp_path):
    frames = seen_map(run_folder(tmp_path / "run", some(KITCHEN))).frames
    (off,) = [frame for frame in frames if "first deviation" in frame.title]
    assert off.at == 3
    (grid,) = [block for block in off.blocks if isinstance(block, Grid)]
    rows = [" ".join(row) for row in grid.table.rows]
    right, chosen = ([o.number for o in off.options if getattr(o, n)] for n in ("right", "chosen"))
    assert (len(right), len(chosen)) == (1, 1)
    assert [row for row in rows if row.startswith(right[0]) and "the way to 4" in row]
    assert [row for row in rows if row.startswith(chosen[0]) and "the way to 2" in row]
    assert frames[-2].title.endswith("stops")


@pytest.mark.parametrize("walk", [LOOP, KITCHEN, ("1_0",), ("1_0", "no such place")])
def test_an_episode_is_drawn(walk, tmp_path):
    shown = seen_map(run_folder(tmp_path / "run", []), *some(walk))
    (true, walked) = shown.routes
    assert len(true.points) == len(PATH)
    assert len(walked.points) == sum(name != "no such place" for name in walk)


@pytest.mark.slow
def test_floors_and_scenes_without_walls_are_drawn(tmp_path):
    up = ("2_0", "2_3", "9_5", "9_11")
    climbed = line(episode(path=up, scene="demo:villa"), result(*up), "s")
    shown = seen_map(run_folder(tmp_path / "run", [climbed]))
    assert {floor for floor, _, _ in shown.routes[0].points} == {1, 2}
    for villa in (load_scene("demo:villa"), load_scene("demo:villa").replace(walls=())):
        assert len(plan_drawing(plan_data(villa), graph=True).record()["floors"]) == 2


def test_the_bars_of_behaviours_need_an_episode():
    assert list(_behaviours(count_failures([]))) == []
    assert list(count_failures([]).tables()) == []
    seen = read_tags(analyse(result(*LOOP), episode(), scene()).tags)
    (bars,) = _behaviours(count_failures([seen]))
    assert [name for name, _ in bars.bars] == ["failed: loop"]
    assert chart_png([bars]).startswith(b"\x89PNG")
    assert count_failures([seen]).failed.of("loop") == 1


def test_examples_tell_what_was_done_and_what_was_right(tmp_path):
    (text,) = mine_failures(run_folder(tmp_path / "run", some(KITCHEN)), 3)
    assert text == (
        f"Told “{SAID}”, an agent after 3 moves went straight on, towards “the way to 2”. That was"
        " wrong: the instruction speaks of a room (Bedroom) and that way leads elsewhere. It"
        " stopped without having been at the goal. Right would have been to go straight on,"
        " towards “the way to 4”."
    )


def test_examples_hold_no_ids_and_are_bounded(tmp_path):
    how = result(*KITCHEN)
    for option in how["steps"][3]["options"]:
        option["description"] = "a door (node_4, visited) " + "ab" * 16 + " and so on" * 200
    lines = [line(episode(SAID + " on" * 5000), how)]
    (text,) = mine_failures(run_folder(tmp_path / "run", lines), 1)
    assert "node_" not in text
    assert "abab" not in text
    assert "2_1" not in text
    assert "\n" not in text
    assert len(text) <= MOST_CHARACTERS


def test_no_example_is_of_the_scene_of_the_episode_or_says_its_words(tmp_path):
    first = episode(id="7_0", columns={"path_id": 7})
    other = episode("Go to the fridge.", (*PATH[:3], "2_5", "2_1", "3_0", "3_1", "3_3"), id="8_0",
                    columns={"path_id": 8})  # fmt: skip
    lines = [line(first, result(*KITCHEN), "a"), line(other, result(*LOOP), "b")]
    examples = read_examples(run_folder(tmp_path / "run", lines))
    assert len(choose_examples(examples, 3)) == 2
    for shown in (first, episode("From elsewhere.", ("2_5", *PATH[3:]), id="9_0")):
        assert choose_examples(examples, 3, [shown]) == ()
    away = {"path": ("1_0", "2_0"), "scene": "demo:house"}
    assert len(choose_examples(examples, 3, [episode("Another place.", **away)])) == 2
    (text,) = choose_examples(examples, 3, [episode(SAID, **away)])
    assert "Go to the fridge." in text


def test_examples_cover_the_most_frequent_kinds_first(tmp_path):
    goals = [PATH, PATH[:6], (*PATH, "6_1")]
    lines = [
        line(episode(f"{SAID} {k}", path, id=f"e{k}"), result(*KITCHEN), f"k{k}")
        for k, path in enumerate(goals)
    ]
    refused = result("1_0", "2_0", end="unparsed")
    refused["steps"].append({"faults": ["refusal: no"]})
    kitchen = (*PATH[:3], "2_5", "2_1", "3_0", "3_1", "3_3")
    lines.append(line(episode("Walk there.", kitchen, id="r"), refused, "r"))
    run = run_folder(tmp_path / "run", lines)
    one, two, three = mine_failures(run, 3)
    assert "the way to 4" in one
    assert "refused to choose" in two
    assert "the way to 4" in three
    assert mine_failures(run, 3) == (one, two, three)
    assert mine_failures(run, 1) == (one,)
    with pytest.raises(UsageError, match="expected 1 or more"):
        mine_failures(run, 0)


def test_the_most_frequent_kind_goes_first_whatever_its_name(tmp_path):
    bath = ("1_0", "1_1", "5_0", "5_2")
    lines = [
        line(episode(id="e0"), result(*KITCHEN), "a"),
        *(
            line(episode(f"Walk through the bedroom {k}.", PATH[:end], id=f"m{k}"), how, f"m{k}")
            for k, (end, how) in enumerate([(6, result(*KITCHEN)), (5, result(*KITCHEN))])
        ),
        line(episode("Walk.", bath, id="b"), result("1_0", "2_0"), "b"),
    ]
    (text,) = mine_failures(run_folder(tmp_path / "run", lines), 1)
    assert "did not stop there" in text


def test_successes_and_broken_lines_are_no_examples(tmp_path):
    lines = some(PATH, KITCHEN, KITCHEN, KITCHEN)
    lines[1]["result"]["tags"]["cause"] = 7
    lines[2]["result"]["episode"] = {"id": "?"}
    lines[3]["result"]["steps"] = json.loads('[null, 1, {"options": 3}, {"options": [5]}]')
    assert read_examples(run_folder(tmp_path / "run", lines)) == ()


@pytest.mark.slow
@pytest.mark.realdata
def test_a_real_building_is_drawn(data_dir):
    scan = load_scene(f"mp3d:{data_dir}/mp3d/2azQ1b91cZZ")
    drawn = plan_drawing(plan_data(scan), graph=True).record()
    assert len(drawn["floors"]) == len(scan.floors)


def test_markdown_escapes_names(tmp_path):
    first, *others = tables(run_folder(tmp_path / "a", some(KITCHEN)))
    assert blocks_to_markdown([replace(first, title="a<b"), *others]).startswith("# a&lt;b\n")
