"""The report: the paper's figures worked out by hand, pictures and stories, and hostile names."""

import json
import re
from dataclasses import astuple
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navloom.cli.main import main
from navloom.errors import RunError, SceneError
from navloom.evals.navcraft.results import build_report, report_blocks, tables, write_report
from navloom.evals.navcraft.scores import PUBLISHED, score_run
from navloom.evals.navcraft.task_figures import contact_sheet, task_routes
from navloom.evals.navcraft.task_results import pick_tasks, task_story
from navloom.evals.report.blocks import Bars, Columns, Prose, Variants
from navloom.evals.report.intervals import bootstrap_mean, wilson_interval
from navloom.evals.report.report_files import blocks_to_markdown
from navloom.evals.run_folder import read_samples
from navloom.evals.run_kinds import kind_of
from navloom.web.line_index import row_cells
from tests.evals import tiny
from tests.scenes.test_plan_sheet import texts
from tests.web.one_file import documents_of, opens_on, said_in


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
    assert "| unknown |" in blocks_to_markdown(tables(run))


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
        assert wilson_interval(0, 0) is None
        return
    low, high = wilson_interval(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    assert high > low


def test_wilson_of_8_in_10():
    """Wilson (1927); 0.4902 to 0.9433 for 8 of 10 is the textbook value at 95 %."""
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)


@settings(max_examples=settings.default.max_examples // 4)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_the_bootstrap_interval_lies_among_the_values_and_never_varies(values):
    low, high = bootstrap_mean(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_mean(values) == (low, high)


def test_markdown_says_the_figures_and_names_baselines(collab):
    said = blocks_to_markdown(tables(collab))
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
    assert "No valid task in 1 attempts" in blocks_to_markdown(tables(run))
    assert main(["report", str(run)]) == 0
    assert "No valid task in 1 attempts" in said_in(run / "report.html", "source/0/tab/scores")
    empty = tiny.run_folder(tmp_path / "empty", [])
    written = write_report([empty]).files
    assert [path.name for path in written] == ["report.md"]
    assert main(["report", str(empty)]) == 0
    assert "There is no attempt to count." in said_in(empty / "report.html")


def _with_scene(tmp_path, run):
    """Tell the run where its home is, as the batch does."""
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
    run, out = _with_scene(tmp_path, collab), tmp_path / "out"
    report, written = build_report([run]), write_report([run], out).files
    assert [path.name for path in written] == ["report.md", "contact_sheet.png"]
    assert written[1].read_bytes().startswith(b"\x89PNG")
    assert main(["report", str(run), "--out", str(out)]) == 0
    text = (out / "report.html").read_text()
    page = _Page(text)
    assert page.sources == ["data:,"]
    assert "default-src 'none'; script-src 'sha256-" in text
    assert 'name="viewport"' in text
    assert "prefers-color-scheme: dark" in text
    found = documents_of(out / "report.html")
    assert opens_on(out / "report.html") == "#/source/0/scores"
    told = {block.get("title"): block for block in found["source/0/tab/scores"]}
    assert len(told["Relays by gain and by regret"]["columns"]) == 3
    (grid,) = [
        each
        for each in found["source/0/tab/scores"]
        if each.get("table", {}).get("title") == "Tasks to look at"
    ]
    assert len(grid["to"]) == len(report.shown) == 1
    for task, to in zip(report.shown, grid["to"], strict=True):
        shown = found[f"source/0/{to}"]
        assert task.story in shown["headline"]
        said = json.dumps(shown, ensure_ascii=False)
        assert task.row["phase_1"]["Task instruction"] in said
        assert all(each in said for each in task.row["phase_2"]["Subtask instruction"].values())
        (plans,) = [each for each in shown["blocks"] if each.get("title") == "Map"]
        (_, (plan,)) = plans["variants"][0]
        assert {route["style"] for route in plan["routes"]} == {"robot_1", "robot_2"}
        assert found[f"plan/{plan['plan']}"]["floors"]


def test_hostile_names_are_text_in_page_and_markdown(tmp_path):
    row = tiny.relay_a1()
    evil = "<script>alert(1)</script>|$x$"
    samples = [
        tiny.sample(row, 0, profile=dict(tiny.PROFILE, Occupation=evil)),
        tiny.sample(tiny.relay_a2(), 1),
        tiny.failed("f", evil),
    ]
    run = _with_scene(tmp_path, tiny.run_folder(tmp_path / "run", samples, model=evil))
    assert main(["report", str(run)]) == 0
    page = run / "report.html"
    assert "alert(1)" not in page.read_text()
    assert evil in said_in(page)
    said = blocks_to_markdown(tables(run))
    assert "<script>" not in said
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in said.splitlines() if "alert" in line}
    assert cells <= {0, 3, 7, 12}  # a pipe in a name opens no new column


def test_a_home_that_is_gone_costs_the_picture_and_not_the_report(collab, tmp_path):
    report = build_report([collab])
    written = write_report([collab], tmp_path / "out").files
    assert all(task.scene is None and task.problem for task in report.shown)
    assert [path.name for path in written] == ["report.md"]
    assert main(["report", str(collab), "--out", str(tmp_path / "out")]) == 0
    said = said_in(tmp_path / "out" / "report.html", "source/0/sample")
    assert "The map is missing: " in said


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
    said = [
        " ".join(text.split()) for text in texts(contact_sheet(rows, {"tiny:home": tiny.home()}))
    ]
    for row in rows:
        assert task_story(row) in " ".join(said)
    assert any(text.startswith("2. tiny:home (Type-A2)") for text in said)


def test_a_sheet_says_what_it_is_has_one_legend_and_names_what_stories_name():
    rows = [tiny.relay_a1(), tiny.relay_a2()]
    said = texts(contact_sheet(rows, {"tiny:home": tiny.home()}, title="NavCraft-C · x/y · n = 2"))
    assert "NavCraft-C · x/y · n = 2" in said
    assert said.count("handoff") == 1
    for row in rows:
        named = [row["phase_1"]["Target object"]]
        named += [row["navloom"][key] for key in ("end_asset", "transfer_asset")]
        assert {name.replace("_", " ") for name in named} <= {*said}


def test_bars_of_several_runs_share_their_edges_and_count_each_relay(collab, tmp_path):
    other = tiny.run_folder(tmp_path / "other", [tiny.sample(tiny.relay_a2(), 7)])
    runs = [collab, other]
    (found,) = [b for b in report_blocks(runs, build_report(runs)) if isinstance(b, Variants)]
    assert [name for name, _ in found.variants] == ["collab", "other"]
    drawn = [
        [bars for (bars,) in each.columns]
        for _, blocks in found.variants
        for each in blocks
        if isinstance(each, Columns)
    ]
    for one, two in zip(*drawn, strict=True):
        assert [name for name, _ in one.bars] == [name for name, _ in two.bars]
        assert [sum(p.count for _, parts in b.bars for p in parts) for b in (one, two)] == [2, 1]
        led = [part.to for _, parts in one.bars for part in parts]
        assert all(to.startswith("run/collab/samples?filter=") for to in led)


def test_a_bar_leads_to_as_many_relays_as_it_counts(collab):
    (columns,) = [block for block in tables(collab) if isinstance(block, Columns)]
    known = {each.name: each for each in kind_of(collab).columns({"kind": "collab"})}
    rows = [
        dict(zip(known, row_cells(known.values(), line), strict=True))
        for line in read_samples(collab)
    ]
    for (bars,) in columns.columns:
        assert isinstance(bars, Bars)
        for _, parts in bars.bars:
            for part in parts:
                name, low, high = re.fullmatch(
                    r"samples\?filter=(\w+)>=(\S+) \1<(\S+)", unquote(part.to)
                ).groups()
                held = [
                    r for r in rows if r[name] is not None and float(low) <= r[name] < float(high)
                ]
                assert len(held) == part.count > 0


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
    told = write_report([collab, other], tmp_path / "out")
    assert isinstance(told.blocks[0], Prose)
    assert "3 valid tasks" in told.blocks[0].text
    assert main(["report", str(collab), str(other), "--out", str(tmp_path / "out")]) == 0
    page = tmp_path / "out" / "report.html"
    assert opens_on(page) == "#/source/0"
    said = said_in(page, "source/0/tab/report")
    assert "Table 4" in said
    assert '"#/source/1/sample/' in said
    assert {"source/1/tab/scores", "source/2/tab/scores"} <= documents_of(page).keys()
    with pytest.raises(RunError):
        build_report([collab, tmp_path / "gone"])


def test_showpieces_are_what_a_person_would_ask_for_where_there_is_any():
    odd, sensible, slow = tiny.relay_a1(), tiny.relay_a1(), tiny.relay_a2()
    for row, score in ((odd, 0.2), (sensible, 0.8), (slow, 1.0)):
        row["navloom"]["worth"] = {"plausible": score}
    assert pick_tasks([odd, slow, sensible]) == [sensible]
    assert pick_tasks([odd, slow]) == [odd]
