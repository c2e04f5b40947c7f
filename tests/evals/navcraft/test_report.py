"""The report: the paper's figures worked out by hand, pictures and stories, and hostile names."""

import base64
import re
from dataclasses import astuple
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.cli.main import main
from navloom.errors import RunError, SceneError
from navloom.evals.navcraft.pictures import contact_sheet, pick_tasks, task_routes
from navloom.evals.navcraft.report import (
    _spreads_picture,
    build_report,
    document,
    html,
    write_report,
)
from navloom.evals.navcraft.scores import PUBLISHED, score_run
from navloom.evals.navcraft.task_words import task_story
from navloom.evals.report.intervals import bootstrap_mean, wilson
from tests.evals import tiny


@pytest.fixture
def collab(tmp_path):
    """Six attempts: two relays, one not worth it, one lost in phase 2, two without an errand."""
    samples = [
        tiny.sample(tiny.relay_a1(), 0, cost_usd=0.1, seconds=2.0),
        tiny.sample(tiny.relay_a2(), 1, cost_usd=0.2, seconds=4.0),
        tiny.sample(tiny.single(), 2),
        tiny.failed("f-1", "not_confirmed", phase_1=tiny.single()["phase_1"]),
        tiny.failed("f-2", "phase_1:out_of_turns"),
        tiny.failed("f-3", "phase_1:out_of_turns"),
    ]
    errors = [
        tiny.failed("e-1", "x") | {"status": "error", "message": "timed out"},
        tiny.failed("f-3", "x") | {"status": "error", "message": "ended well on another try"},
    ]
    return tiny.run_folder(tmp_path / "collab", samples, errors=errors)


def test_table_4_counts_as_the_paper_does(collab):
    score = score_run(collab)
    assert (score.single.hits, score.single.of) == (4, 6)
    assert (score.relays.hits, score.relays.of) == (2, 4)
    assert (score.relays_per_attempt.hits, score.relays_per_attempt.of) == (2, 6)
    assert score.not_worth_it == 1
    assert score.errors == 1
    assert score.gain_alpha.max == pytest.approx(20 / 38)
    assert score.gain_alpha.mean == pytest.approx((20 / 38 + 5 / 23) / 2)
    assert score.gain_g.mean == pytest.approx((13 / 38 - 2 / 23) / 2)
    assert score.gain_alone.mean == pytest.approx(15 / 38 / 2)
    assert score.cost_usd == pytest.approx(0.3)
    assert score.seconds.mean == pytest.approx((2 + 4 + 4 * 0.25) / 6)
    assert score.reasons == (("phase_1:out_of_turns", 2), ("not_confirmed", 1))
    assert score.error_messages == (("timed out", 1),)


def test_a_relay_the_model_missed_is_no_finding(tmp_path):
    missed = tiny.sample(tiny.single(), 0) | {"id": "missed"}
    missed["result"]["navloom"]["decided_by"] = "model"
    score = score_run(tiny.run_folder(tmp_path / "r", [missed, tiny.sample(tiny.single(), 1)]))
    assert (score.not_worth_it, score.declined) == (1, 1)
    assert score.relays.hits == 0


def test_published_rows_are_table_4s():
    """CoNavBench, Table 4; relays are counted per valid single: 36 of 77 is 46.75 %."""
    best = next(row for row in PUBLISHED if row.model == "GPT 4o")
    assert round(36 / 77, 4) == best.collab
    assert round(17 / 64, 4) == next(r.collab for r in PUBLISHED if r.model == "GPT 4o-mini")
    assert len(PUBLISHED) == 6
    # Single, collab, gains (most, mean), dollars and seconds: each column of the table, added up.
    columns = list(zip(*(astuple(row)[1:] for row in PUBLISHED), strict=True))
    assert [round(sum(column), 4) for column in columns] == [
        3.48, 1.1901, 2.5832, 1.3391, 8.405, 120.65,
    ]  # fmt: skip


def test_a_single_run_has_no_relays_to_count(tmp_path):
    samples = [tiny.sample(tiny.single(), 0), tiny.failed("f", "not_json")]
    score = score_run(tiny.run_folder(tmp_path / "s", samples, kind="single"))
    assert (score.single.hits, score.single.of) == (1, 2)
    assert score.relays.share is None
    assert score.not_worth_it == 0


def test_an_unknown_price_makes_the_cost_unknown(tmp_path):
    samples = [tiny.sample(tiny.relay_a1(), 0, cost_usd=None), tiny.sample(tiny.relay_a2(), 1)]
    run = tiny.run_folder(tmp_path / "r", samples, model="vllm/x")
    assert score_run(run).cost_usd is None
    assert "| unknown |" in document(build_report([run])).markdown()


def test_diversity_by_profile(tmp_path):
    other = tiny.sample(tiny.relay_a1(), 1) | {"id": "b", "profile": None}
    samples = [tiny.sample(tiny.relay_a1(), 0), tiny.sample(tiny.relay_a2(), 2), other]
    everyone, lawyer, nobody = score_run(tiny.run_folder(tmp_path / "r", samples)).diversity
    assert (everyone.tasks, everyone.objects, everyone.instructions, everyone.pairs) == (3, 2, 2, 2)
    assert (everyone.relays, everyone.type_a1) == (3, 2)
    assert (lawyer.profile, lawyer.tasks) == ("33, Female, Married, Lawyer", 2)
    assert (nobody.profile, nobody.tasks) == ("none", 1)


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_holds_the_share_and_stays_in_bounds(hits, more):
    of = hits + more
    if of == 0:
        assert wilson(0, 0) is None
        return
    low, high = wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    assert high > low


def test_wilson_of_8_in_10():
    """Wilson (1927); 0.4902 to 0.9433 for 8 of 10 is the textbook value at 95 %."""
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)


@settings(max_examples=20)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_the_bootstrap_interval_lies_among_the_values_and_never_varies(values):
    low, high = bootstrap_mean(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_mean(values) == (low, high)


def test_markdown_says_the_figures_and_names_baselines(collab):
    said = document(build_report([collab])).markdown()
    row = next(line for line in said.splitlines() if line.startswith("| collab:"))
    assert "builtin/heuristic, baseline (rule-based)" in row
    assert "66.7% (4/6)" in row
    assert "50.0% (2/4)" in row
    assert "33.3% (2/6)" in row
    assert "GPT 4o (published) | 77% | 46.75%" in said
    assert "finding: no relay is worth it | 1 |" in said
    assert "failed: phase\\_1" in said or "failed: phase_1:out_of_turns | 2 |" in said
    assert "error: timed out | 1 |" in said


def test_a_run_without_a_valid_task_says_so(tmp_path):
    run = tiny.run_folder(tmp_path / "none", [tiny.failed("f", "not_json")])
    report = build_report([run])
    assert "No valid task in 1 attempts" in document(report).markdown()
    assert "No valid task in 1 attempts" in html(report)
    empty = tiny.run_folder(tmp_path / "empty", [])
    _, written = write_report([empty])
    assert [path.name for path in written] == ["report.md", "report.html"]


def _with_scene(tmp_path, run):
    """Tell the run where its home is, as the batch does."""
    import json

    record = json.loads((run / "run.json").read_text())
    record["request"]["spec"] = tiny.scene_file(tmp_path)
    (run / "run.json").write_text(json.dumps(record))
    return run


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.sources = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [v for k, v in attributes if k in ("src", "href", "action")]


def test_the_page_needs_nothing_outside_it_and_shows_each_task(collab, tmp_path):
    report, written = write_report([_with_scene(tmp_path, collab)], tmp_path / "out")
    assert [path.name for path in written] == ["report.md", "report.html", "contact_sheet.png"]
    text = written[1].read_text()
    page = _Page(text)
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert len(page.sources) == 2 + len(report.shown) == 3  # histograms, the one legend, a plan
    assert base64.b64decode(page.sources[0].split(",")[1]).startswith(b"\x89PNG")
    assert "script" not in page.tags
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    assert written[2].read_bytes().startswith(b"\x89PNG")


def test_hostile_names_are_text_in_page_and_markdown(tmp_path):
    row = tiny.relay_a1()
    evil = "<script>alert(1)</script>|$x$"
    samples = [
        tiny.sample(row, 0, profile=dict(tiny.PROFILE, Occupation=evil)),
        tiny.sample(tiny.relay_a2(), 1),
        tiny.failed("f", evil),
    ]
    run = _with_scene(tmp_path, tiny.run_folder(tmp_path / "run", samples, model=evil))
    report = build_report([run])
    assert "script" not in _Page(html(report)).tags
    said = document(report).markdown()
    assert "<script>" not in said
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in said.splitlines() if "alert" in line}
    assert cells <= {0, 3, 7, 12}  # a pipe in a name opens no new column


def test_a_home_that_is_gone_costs_the_picture_and_not_the_report(collab, tmp_path):
    report, written = write_report([collab], tmp_path / "out")
    assert all(task.scene is None and task.problem for task in report.shown)
    assert [path.name for path in written] == ["report.md", "report.html"]
    assert "No plan:" in written[1].read_text()


def test_routes_start_pick_up_and_end_where_the_task_says():
    routes, marks = task_routes(tiny.home(), tiny.relay_a1())
    one, two = routes
    assert one.points[0] == (1, 0.0, 0.0)
    assert one.points[one.carried_from] == (1, 10.0, -1.0)
    assert one.points[-1] == (1, 11.0, 5.0)
    assert two.points[0] == (1, 15.0, 0.0)
    assert two.points[two.carried_from] == (1, 20.0, 1.0)
    assert two.points[-1] == (1, 10.0, -1.0)
    assert {mark.kind for mark in marks} == {"start_1", "start_2", "object", "handoff", "end"}
    ((alone,), _) = task_routes(tiny.home(), tiny.single())
    assert alone.points[alone.carried_from] == (1, 20.0, 1.0)


def test_routes_swap_with_the_type():
    (one, two), _ = task_routes(tiny.home(), tiny.relay_a2())
    assert one.points[one.carried_from] == (1, 9.0, 0.0)
    assert one.points[-1] == two.points[two.carried_from] == (1, 5.0, -1.0)


def test_an_item_that_is_not_there_is_said():
    row = tiny.relay_a1()
    row["navloom"]["object_id"] = "gone"
    with pytest.raises(SceneError, match="has no item 'gone'"):
        task_routes(tiny.home(), row)


def test_stories_are_plain():
    assert task_story(tiny.relay_a1()) == (
        "robot_2 goes from Dining room 4 to Office 5, takes the cup there and brings it to the"
        " counter in Kitchen 3. robot_1 comes from Bedroom 1, takes it from there and carries it on"
        " to the shelf in Living room 7. robot_1 walks 18 m instead of 38 m (53% less); together"
        " they are done 34% sooner than it alone."
    )
    assert "they are done 9% later than it alone" in task_story(tiny.relay_a2())
    assert task_story(tiny.single()) == (
        "robot_1 goes from Bedroom 1 to Office 5, takes the cup to the shelf in Living room 7:"
        " 38 m in all."
    )


def test_shown_tasks_are_spread_over_homes():
    rows = [tiny.relay_a1() | {"scene": f"tiny:{i}"} for i in range(30) for _ in range(3)]
    picked = pick_tasks(rows)
    assert len({row["scene"] for row in picked}) == 10
    assert pick_tasks(rows) == picked
    assert len(pick_tasks(rows[:2])) == 2
    assert len(pick_tasks(rows[:5])) == 5


def test_what_is_slower_than_one_robot_is_no_showpiece():
    fast, slow, alone = tiny.relay_a1(), tiny.relay_a2(), tiny.single()
    assert fast["navloom"]["g_rate"] < 1 < slow["navloom"]["g_rate"]
    assert pick_tasks([slow, alone, fast, slow]) == [fast]
    assert pick_tasks([slow, alone, slow]) == [alone]
    assert pick_tasks([slow]) == [slow]


def test_the_contact_sheet_tells_every_story():
    rows = [tiny.relay_a1(), tiny.relay_a2(), tiny.single()]
    figure = contact_sheet(rows, {"tiny:home": tiny.home()})
    said = [" ".join(text.get_text().split()) for text in figure.texts]
    for row in rows:
        assert task_story(row) in said
    assert any(text.startswith("2. tiny:home (Type-A2)") for text in said)


def test_a_sheet_says_what_it_is_has_one_legend_and_names_what_stories_name():
    rows = [tiny.relay_a1(), tiny.relay_a2()]
    figure = contact_sheet(rows, {"tiny:home": tiny.home()}, title="NavCraft-C · x/y · n = 2")
    assert "NavCraft-C · x/y · n = 2" in [text.get_text() for text in figure.texts]
    (legend,) = figure.legends
    assert "handoff" in [text.get_text() for text in legend.get_texts()]
    written = {text.get_text() for axes in figure.axes for text in axes.texts}
    for row in rows:
        named = [row["phase_1"]["Target object"]]
        named += [row["navloom"][key] for key in ("end_asset", "transfer_asset")]
        assert {name.replace("_", " ") for name in named} <= written


def test_histograms_share_their_axes_and_count_in_whole_numbers(collab):
    figure = _spreads_picture([score_run(collab), score_run(collab)])
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert all(tick == int(tick) for axes in figure.axes for tick in axes.get_yticks())
    gain, g_gain, _, *others = figure.axes
    assert gain.get_xlim() == g_gain.get_xlim() == others[0].get_xlim()


def test_the_commands_from_run_to_report(collab, tmp_path, capsys):
    run, tasks = _with_scene(tmp_path, collab), tmp_path / "tasks.jsonl"
    spec = tiny.scene_file(tmp_path)
    assert main(["export", str(run), "--format", "navcraft", "--out", str(tasks)]) == 0
    assert main(["validate", str(tasks), "--scenes", spec]) == 0
    assert capsys.readouterr().out.endswith("2 tasks: 2 valid\n")
    tasks.write_text(tasks.read_text().replace('"Take the cup from Office_5', '"Bring the cup'))
    assert main(["validate", str(tasks), "--scenes", spec]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{tasks}:1: ")
    assert said[-1].startswith("2 tasks: 1 valid, 1 not valid")
    assert main(["report", str(run), "--json"]) == 0
    assert '"relays_per_attempt"' in capsys.readouterr().out
    assert (run / "contact_sheet.png").is_file()
    assert main(["report", str(tmp_path / "nowhere")]) == 1
    assert "is not a run" in capsys.readouterr().err


def test_reports_of_several_runs_stand_side_by_side(collab, tmp_path):
    other = tiny.run_folder(tmp_path / "other", [tiny.sample(tiny.single(), 0)], kind="single")
    report = build_report([collab, other])
    assert [score.name for score in report.scores] == ["collab", "other"]
    assert report.valid == 3
    with pytest.raises(RunError):
        build_report([collab, tmp_path / "gone"])


def test_showpieces_are_what_a_person_would_ask_for_where_there_is_any():
    odd, sensible, slow = tiny.relay_a1(), tiny.relay_a1(), tiny.relay_a2()
    for row, score in ((odd, 0.2), (sensible, 0.8), (slow, 1.0)):
        row["navloom"]["worth"] = {"plausible": score}
    assert pick_tasks([odd, slow, sensible]) == [sensible]
    assert pick_tasks([odd, slow]) == [odd]
