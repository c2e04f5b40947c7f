"""The report of navigation runs, and failure examples mined from them."""

import json
from dataclasses import replace

import pytest

from navloom.errors import RunError, UsageError
from navloom.evals.navigation.failure_examples import MOST_CHARACTERS, choose, mine, read_examples
from navloom.evals.navigation.failures import analyse, read_tags, tallies_of
from navloom.evals.navigation.pictures import EpisodeDrawing, draw_episode, errors_picture
from navloom.evals.navigation.report import build_nav_report, document, html, write_nav_report
from navloom.evals.navigation.shown_episodes import case_steps, pick_cases, read_case
from navloom.scenes.uri import load_scene
from tests.evals.navigation.walks import PATH, SAID, episode, line, result, run_folder, scene

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
def test_the_last_step_says_which_thing_was_named(named, words, bad):
    walked = result(*PATH)
    walked["pointed"] = {"object": named, "offered": {"7": "side table", "9": "<b>"}, "faults": []}
    about = episode(columns={"object": 7, "object_name": "table"})
    said = line(about, walked, "s1")
    case = read_case(said, analyse(walked, about, scene(), success=True))
    (note,) = (each for each in case_steps(case)[-1].notes if each.who == "which thing")
    assert (note.words, note.bad) == (words, bad)


def test_the_page_says_what_happened(run):
    _, files = write_nav_report(run)
    text = files[1].read_text()
    assert files == [run / name for name in ("report.md", "report.html", "errors.png")]
    assert "scene test: 2 of 6 episodes succeeded (33.3%)." in text
    assert "a baseline and no language model: R2R-tuned rules: " in text
    assert text.count("data:image/png;base64,") == 8
    assert "early stop (elsewhere); cause: region" in text
    assert "first deviation" in text
    assert (run / "errors.png").read_bytes().startswith(b"\x89PNG")
    assert "| loop (revisits 1) |" in (run / "report.md").read_text()


def test_what_was_said_is_text_and_never_markup(run):
    text = write_nav_report(run)[1][1].read_text()
    assert "<script" not in text
    assert "alert" in text
    assert "{{ 7 * 7 }}" in text
    assert "& 49 $" not in text
    assert "<script" not in (run / "report.md").read_text()


def test_equal_runs_make_equal_reports(run):
    assert html(build_nav_report(run), run) == html(build_nav_report(run), run)


def test_tables_count_each_episode_once(run):
    tables = {table.title: table for table in build_nav_report(run).tables}
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
    text = write_nav_report(run_folder(tmp_path / "empty", []))[1][1].read_text()
    assert "no episode has ended" in text
    assert "What went wrong" not in text


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(RunError, match="not a run"):
        write_nav_report(tmp_path)


def test_a_scene_that_is_gone_costs_its_plans_alone(tmp_path):
    (gone,) = some(KITCHEN)
    gone["result"]["episode"]["scene"] = "mp3d:gone"
    text = write_nav_report(run_folder(tmp_path / "run", [gone]))[1][1].read_text()
    assert "No plan: " in text
    assert text.count("data:image/png;base64,") == 1


def test_tags_that_are_missing_are_worked_out(tmp_path):
    (plain,) = some(KITCHEN)
    plain["result"]["tags"] = {"behaviour": ["none"], "cause": "a ghost"}
    report = build_nav_report(run_folder(tmp_path / "run", [plain]))
    assert report.tagged[0].cause == "region"


def test_twelve_episodes_are_of_every_kind():
    lines = [
        *some(*[PATH] * 20, *[KITCHEN] * 20, LOOP),
        line(episode(id="t"), result("1_0", "2_0", end="max_steps"), "t"),
    ]
    cases = [read_case(each, read_tags(each["result"]["tags"])) for each in lines]
    chosen = pick_cases(cases)
    assert len(chosen) == 12
    assert len({case.id for case in chosen}) == 12
    assert {case.tagged.behaviour for case in chosen} == {
        "loop", "time_out", "early_stop", "none",
    }  # fmt: skip
    assert sum(case.tagged.success for case in chosen) == 4
    assert len(pick_cases(cases[:3])) == 3


def test_the_steps_of_an_episode():
    (one,) = some(KITCHEN)
    steps = case_steps(read_case(one, read_tags(one["result"]["tags"])))
    off = next(step for step in steps if step.deviates)
    assert off.number == 3
    assert [option.description for option in off.options if option.right] == ["the way to 4"]
    assert [option.description for option in off.options if option.chosen] == ["the way to 2"]
    assert steps[-1].action == "stops"


@pytest.mark.parametrize("walk", [LOOP, KITCHEN, ("1_0",), ("1_0", "no such place")])
def test_an_episode_is_drawn(walk):
    figure = draw_episode(scene(), EpisodeDrawing(walk, PATH, ("6_0",), walk[0]))
    assert figure.axes
    assert 2 < figure.get_figheight() < 9


def test_floors_and_scenes_without_walls_are_drawn():
    villa = load_scene("demo:villa")
    up = ("2_0", "2_3", "9_5", "9_11")
    assert len(draw_episode(villa, EpisodeDrawing(up, up)).axes) == 2
    bare = villa.replace(walls=())
    assert len(draw_episode(bare, EpisodeDrawing(up, up)).axes) == 2


def test_the_errors_picture_needs_an_episode():
    assert errors_picture([]) is None
    assert list(tallies_of([]).tables()) == []
    seen = read_tags(analyse(result(*LOOP), episode(), scene()).tags)
    assert len(errors_picture([seen]).axes) == 1
    assert tallies_of([seen]).failed.of("loop") == 1


def test_examples_tell_what_was_done_and_what_was_right(tmp_path):
    (text,) = mine(run_folder(tmp_path / "run", some(KITCHEN)), 3)
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
    (text,) = mine(run_folder(tmp_path / "run", lines), 1)
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
    assert len(choose(examples, 3)) == 2
    for shown in (first, episode("From elsewhere.", ("2_5", *PATH[3:]), id="9_0")):
        assert choose(examples, 3, [shown]) == ()
    away = {"path": ("1_0", "2_0"), "scene": "demo:house"}
    assert len(choose(examples, 3, [episode("Another place.", **away)])) == 2
    (text,) = choose(examples, 3, [episode(SAID, **away)])
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
    one, two, three = mine(run, 3)
    assert "the way to 4" in one
    assert "refused to choose" in two
    assert "the way to 4" in three
    assert mine(run, 3) == (one, two, three)
    assert mine(run, 1) == (one,)
    with pytest.raises(UsageError, match="expected 1 or more"):
        mine(run, 0)


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
    (text,) = mine(run_folder(tmp_path / "run", lines), 1)
    assert "did not stop there" in text


def test_successes_and_broken_lines_are_no_examples(tmp_path):
    lines = some(PATH, KITCHEN, KITCHEN, KITCHEN)
    lines[1]["result"]["tags"]["cause"] = 7
    lines[2]["result"]["episode"] = {"id": "?"}
    lines[3]["result"]["steps"] = json.loads('[null, 1, {"options": 3}, {"options": [5]}]')
    assert read_examples(run_folder(tmp_path / "run", lines)) == ()


@pytest.mark.realdata
def test_a_real_building_is_drawn_around_the_episode(data_dir):
    scan = load_scene(f"mp3d:{data_dir}/mp3d/2azQ1b91cZZ")
    names = [e.a for e in scan.edges[:1]] + [scan.edges[0].b]
    figure = draw_episode(scan, EpisodeDrawing(names, names, names[-1:]))
    assert figure.get_figheight() < 9


def test_markdown_escapes_names(tmp_path):
    report = build_nav_report(run_folder(tmp_path / "a", some(KITCHEN)))
    named = replace(report, title="a<b")
    assert document(named).markdown().startswith("# a&lt;b\n")
