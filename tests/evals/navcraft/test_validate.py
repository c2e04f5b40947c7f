"""``navloom validate``: schema, scene, bounds, and a broken file that never breaks the check."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navloom.errors import SceneError, UsageError
from navloom.evals.navcraft.dataset_check import (
    MOST_BYTES,
    MOST_FINDINGS,
    DatasetFinding,
    ValidationResult,
    _lines,
    _parse,
    _Scenes,
    check_dataset,
    dataset_schema,
    find_problems,
)
from navloom.scenes.scene import Box, Item
from navloom.scenes.scene_uri import SceneLookup
from tests.evals import tiny


@pytest.fixture
def scenes(tmp_path):
    return tiny.scene_file(tmp_path)


def check(tmp_path, scenes, *rows):
    return check_dataset(tiny.write_rows(tmp_path / "tasks.jsonl", list(rows)), scenes)


def test_valid_tasks_have_no_findings(tmp_path, scenes):
    result = check(tmp_path, scenes, tiny.single(), tiny.relay_a1(), tiny.relay_a2())
    assert result.findings == ()
    assert result.summary == "3 tasks: 3 valid"


def test_an_end_that_holds_nothing_is_a_note_and_no_finding(tmp_path):
    home = tmp_path / "odd.json"
    home.write_text(tiny.home().model_dump_json().replace('"shelf"', '"toilet"'))
    row = json.loads(json.dumps(tiny.relay_a1()).replace("shelf in", "toilet in"))
    row = json.loads(json.dumps(row).replace('"shelf"', '"toilet"').replace("shelf_7", "toilet_7"))
    result = check(tmp_path, str(home), row)
    assert (result.findings, result.odd) == ((), 1)
    assert result.summary == "1 tasks: 1 valid; 1 of these put a thing where none can be put"


@pytest.mark.parametrize(
    ("key", "regret"), [("best_alpha", "regret_alpha"), ("best_g_rate", "regret_g")]
)
@pytest.mark.parametrize("by", [-0.05, 0.002])
def test_an_optimum_that_is_none_is_found(key, regret, by, tmp_path, scenes):
    row = tiny.relay_a2()
    rest = row["navloom"]
    rest[key] += by
    rest[regret] = (
        rest["alpha"] - rest[key] if key == "best_alpha" else rest["g_rate"] / rest[key] - 1
    )
    (finding,) = check(tmp_path, scenes, row).findings
    assert finding.where == f'navloom "{key}"'
    assert "the best relay has" in finding.problem


def test_a_finding_is_one_line_that_names_file_line_part_and_fault(tmp_path, scenes):
    row = tiny.single()
    row["phase_1"]["Single robot travel path"]["robot_1"][0] = "Bedroom_1 -> Kitchen_3"
    file = tiny.write_rows(tmp_path / "F.jsonl", [tiny.relay_a1(), row])
    (finding,) = check_dataset(file, scenes).findings
    assert finding.text("F.jsonl") == (
        'F.jsonl:2: phase_1 "Single robot travel path": '
        "'Bedroom_1 -> Kitchen_3' is not a link of tiny:home"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "5 is not of type 'string'"),
        ("Cup", "'Cup' is not an item's name (lower case, one underscore between words)"),
    ],
)
def test_what_is_no_text_is_told_from_a_text_of_another_form(value, said, tmp_path, scenes):
    row = tiny.single()
    row["phase_1"]["Target object"] = value
    assert check(tmp_path, scenes, row).findings[0].problem == said


def test_the_last_64_scenes_are_kept_and_one_that_failed_fails_again(monkeypatch):
    loaded = []

    def load(_, name):
        loaded.append(name)
        if name == "63":
            raise SceneError("there is none")
        return tiny.home()

    monkeypatch.setattr(SceneLookup, "load", load)
    scenes = _Scenes(None)
    for number in (*range(63), *range(63)):
        assert scenes.scene(str(number)).id == "home"
    for _ in range(2):
        with pytest.raises(SceneError, match="there is none"):
            scenes.scene("63")
    assert len(loaded) == 64
    scenes.scene("0")
    assert len(loaded) == 64
    scenes.scene("64")
    scenes.scene("1")
    assert loaded[64:] == ["64", "1"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"{", "not JSON"),
        (b"", "empty line"),
        (b"[]", "is not of type 'object'"),
        (b"null", "is not of type 'object'"),
        (b"\xff\xfe", "not JSON"),
        (b'{"scene": NaN}', "NaN is not JSON"),
        (b'{"scene": 1, "scene": 2}', "holds a key twice"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 50_000, "not JSON"),
        (b"9" * 10_000, "not JSON"),
        (b'{"navloom": {"solo_metres": ' + b"9" * 400 + b"}}", "a whole number of 400 digits"),
        (b'"' + b"x" * (2 * MOST_BYTES) + b'"', "longer than"),
    ],
)
def test_a_broken_line_is_a_finding_and_the_rest_is_still_checked(raw, said, tmp_path, scenes):
    good = json.dumps(tiny.relay_a1()).encode()
    file = tmp_path / "tasks.jsonl"
    file.write_bytes(good + b"\n" + raw + b"\n" + json.dumps(tiny.single()).encode() + b"\n")
    result = check_dataset(file, scenes)
    assert (result.tasks, result.valid) == (3, 2)
    (finding,) = result.findings
    assert finding.line == 2
    assert said in finding.problem
    assert "\n" not in finding.text(file)
    assert len(finding.problem) <= 300


def test_the_number_of_findings_is_bounded_and_all_lines_are_counted(tmp_path, scenes):
    file = tmp_path / "tasks.jsonl"
    file.write_text("x\n" * (MOST_FINDINGS + 50))
    result = check_dataset(file, scenes)
    assert (result.tasks, result.valid) == (MOST_FINDINGS + 50, 0)
    assert (len(result.findings), result.left_out) == (MOST_FINDINGS, 50)
    assert len(result.findings) == 1000


def test_an_id_that_stands_twice_is_found(tmp_path, scenes):
    (finding,) = check(tmp_path, scenes, tiny.single(), tiny.single()).findings
    assert finding.problem == "'tiny-home-0000' stands in line 1 too"


@pytest.mark.parametrize(
    "name", ["tiny:away", "hm3d:../../etc", "demo:nowhere", "/etc/passwd", "no:where", "x"]
)
def test_a_scene_that_is_not_there_is_a_finding(name, tmp_path, scenes):
    row = tiny.single() | {"scene": name}
    (finding,) = check(tmp_path, scenes, row).findings
    assert finding.where == "scene"


def test_a_scene_file_that_is_given_goes_before_the_homes_of_the_package(tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text(tiny.home().replace(source="demo", id="flat").model_dump_json())
    assert check(tmp_path, str(mine), tiny.single() | {"scene": "demo:flat"}).valid == 1


def test_one_broken_scene_file_hides_no_other(tmp_path):
    folder = tmp_path / "homes"
    for name, text in (("a", "{"), ("b", tiny.home().model_dump_json())):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(text)
    assert check(tmp_path, str(folder), tiny.single()).valid == 1


def test_a_file_by_other_software_needs_no_navloom_part(tmp_path, scenes):
    rows = [tiny.single() | {"navloom": None}, tiny.relay_a2() | {"navloom": None}]
    assert check(tmp_path, scenes, *rows).summary == "2 tasks: 2 valid"
    worse = tiny.relay_a2() | {"navloom": None}
    worse["phase_2"]["Transfer region"] = "Kitchen_3"
    assert check(tmp_path, scenes, worse).valid == 0


def test_a_relay_that_spares_robot_1_nothing_is_rejected_without_its_numbers(tmp_path, scenes):
    row = tiny.relay_a1() | {"navloom": None}
    # By way of the bathroom's sink robot_1 walks 5 + 5 + 1 there and 1 + 5 + 5 + 5 + 1 on: 28 m of
    # 38 m; by way of the garage, 20 m and more there and back, it saves nothing in Type-A2.
    text = json.dumps(row)
    text = text.replace("the counter in Kitchen_3", "the bed in Bedroom_1")
    row = json.loads(text.replace("counter_3", "bed_1"))
    row["phase_2"]["Transfer region"] = "Bedroom_1"
    row["phase_2"]["Collaborative type"] = "Type-A2"
    for key in ("Subtask instruction", "Subtask list"):
        part = row["phase_2"][key]
        part["robot_1"], part["robot_2"] = part["robot_2"], part["robot_1"]
    (finding,) = check(tmp_path, scenes, row).findings
    assert "the relay spares robot_1 nothing" in finding.problem
    assert "alpha is 1.1" in finding.problem  # (21 + 22) / 38


def test_the_strict_guard_counts_where_it_is_claimed(tmp_path, scenes):
    row = tiny.relay_a1()
    row["navloom"]["strict_helper"] = True
    problems = [finding.problem for finding in check(tmp_path, scenes, row).findings]
    assert problems == [
        "robot_2's Dining_room_4 is next to the target region Office_5",
        "robot_2's Dining_room_4 is next to the transfer region Kitchen_3",
    ]


def test_viewpoints_that_tie_are_both_right(tmp_path):
    """The shelf between two viewpoints joins either: 38 m by the one, 41 m by the other."""
    home = tiny.home()
    twin = home.viewpoint_by_id["v7"].model_copy(update={"id": "v9", "position": (12.0, 0.0, 5.0)})
    edge = home.edges[0].model_copy(update={"a": "v7", "b": "v9"})
    scene = home.replace(viewpoints=(*home.viewpoints, twin), edges=(*home.edges, edge))
    path = tmp_path / "tie.json"
    path.write_text(scene.model_dump_json())
    other = tiny.single()
    other["navloom"] |= {"solo_metres": 40.0, "id": "b"}
    wrong = tiny.single()
    wrong["navloom"] |= {"solo_metres": 39.0, "id": "c"}
    result = check(tmp_path, str(path), tiny.single(), other, wrong)
    assert [finding.line for finding in result.findings] == [3]


def test_without_a_viewpoint_in_its_region_an_item_hangs_on_its_floor(tmp_path):
    home = tiny.home()
    lost = tuple(v for v in home.viewpoints if v.id != "v5")
    edges = tuple(e for e in home.edges if "v5" not in (e.a, e.b))
    scene = home.replace(viewpoints=lost, edges=edges)
    path = tmp_path / "lost.json"
    path.write_text(scene.model_dump_json())
    row = tiny.single()
    # The cup is sqrt(26) from Dining_room_4's viewpoint: 15 + 5.099 there, 5.099 + 10 + 1 on.
    row["navloom"]["solo_metres"] = 15 + 2 * 26**0.5 + 10 + 1
    assert check(tmp_path, str(path), row).findings == ()


def test_an_asset_too_high_to_reach_is_no_place_for_a_handoff(tmp_path):
    home = tiny.home()
    high = [
        Item(**{**item.model_dump(), "position": (10, 1.5, -1)})
        if item.id.startswith("counter")
        else item
        for item in home.items
    ]
    path = tmp_path / "high.json"
    path.write_text(home.replace(items=tuple(high)).model_dump_json())
    (finding,) = check(tmp_path, str(path), tiny.relay_a1()).findings
    assert "no usable surface" in finding.problem
    assert isinstance(home.regions[0].box, Box)


def test_a_missing_file_or_spec_is_a_users_mistake(tmp_path, scenes):
    with pytest.raises(UsageError, match="cannot be read"):
        check_dataset(tmp_path / "none.jsonl", scenes)
    with pytest.raises(SceneError):
        check_dataset(tiny.write_rows(tmp_path / "t.jsonl", []), str(tmp_path / "none.json"))


def test_an_empty_file_holds_no_task(tmp_path, scenes):
    assert check(tmp_path, scenes).summary == "0 tasks: 0 valid"


def test_the_published_schema_is_strict_in_its_phases():
    defs = dataset_schema()["$defs"]
    assert dataset_schema()["$schema"].endswith("2020-12/schema")
    assert defs["phase_1"]["additionalProperties"] is False
    assert defs["phase_2"]["additionalProperties"] is False
    assert set(defs["phase_1"]["required"]) == set(tiny.single()["phase_1"])
    assert set(defs["phase_2"]["required"]) == set(tiny.relay_a1()["phase_2"])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def _leaves(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(each, (*path, key))


_PLACES = [path for path in _leaves(tiny.relay_a1()) if path and path != ("profile",)]


@settings(
    max_examples=3 * settings.default.max_examples // 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(place=st.sampled_from(_PLACES), value=_JSON)
def test_whatever_stands_in_a_line_the_check_ends_and_speaks_plainly(
    place, value, tmp_path, scenes
):
    row = copy.deepcopy(tiny.relay_a1())
    inside = row
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    result = check(tmp_path, scenes, row)
    assert result.tasks == 1
    assert all("\n" not in finding.text("f") for finding in result.findings)


@pytest.mark.parametrize("name", ["flat", "house", "villa"])
def test_what_the_package_makes_in_its_own_homes_is_valid(name, tmp_path):
    from navloom.evals.navcraft.export import export_run
    from navloom.evals.navcraft.request import SynthRequest
    from navloom.evals.runner import run_request
    from navloom.scenes.scene_uri import load_scene
    from tests.evals.navcraft import checker

    asked = SynthRequest(kind="collab", spec=f"demo:{name}", n=8, seed=5)
    run_request(asked, tmp_path / "run")
    count = export_run(tmp_path / "run", tmp_path / "tasks.jsonl")
    assert count > 0
    assert check_dataset(tmp_path / "tasks.jsonl").findings == ()
    scene = json.loads(load_scene(f"demo:{name}").model_dump_json())
    for line in (tmp_path / "tasks.jsonl").read_text().splitlines():
        assert checker.check(json.loads(line), scene) == []


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("scheme", "n"),
    [
        ("hm3d", 10),
        ("mp3d", 5),
        pytest.param("hm3d", 70, marks=pytest.mark.slow),
        pytest.param("mp3d", 25, marks=pytest.mark.slow),
    ],
)
def test_what_is_made_in_real_homes_is_valid(scheme, n, data_dir, tmp_path):
    from navloom.evals.navcraft.export import export_run
    from navloom.evals.navcraft.request import SynthRequest
    from navloom.evals.runner import run_request
    from navloom.scenes.scene_uri import load_scene
    from tests.evals.navcraft import checker

    spec, file = f"{scheme}:{data_dir / scheme}", tmp_path / "tasks.jsonl"
    run_request(SynthRequest(kind="collab", spec=spec, n=n, seed=5), tmp_path / "run")
    assert export_run(tmp_path / "run", file) > n // 2
    assert check_dataset(file, spec).findings == ()
    scenes = {}
    for line in file.read_text().splitlines():
        row = json.loads(line)
        uri = row["scene"].replace(f"{scheme}:", f"{spec}/")
        if uri not in scenes:
            scenes[uri] = json.loads(load_scene(uri).model_dump_json())
        assert checker.check(row, scenes[uri]) == []


@pytest.mark.parametrize(("digits", "read"), [(300, True), (301, False)])
def test_a_whole_number_has_three_hundred_digits_at_most(digits, read):
    raw = b"1" * digits
    if read:
        assert _parse(raw) == int(raw)
    else:
        with pytest.raises(ValueError, match="a whole number of 301 digits"):
            _parse(raw)


@pytest.mark.parametrize(("more", "read"), [(0, True), (1, False)])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_has_256_kilobytes_at_most(more, read, end, tmp_path):
    # The end of a line counts as one byte of it.
    file = tmp_path / "tasks.jsonl"
    long = b"x" * (256 * 1024 + more) + end
    file.write_bytes(long + b"\n" * (not end) + b"y")
    first, *_, (number, last) = _lines(file)
    assert first == (1, long.rstrip(b"\n") + b"\n" if read or (end and not more) else None)
    assert (number, last) == (2, b"y")


def test_a_summary_counts_what_is_not_valid():
    finding = DatasetFinding(1, "", "x")
    assert ValidationResult(2, 2, ()).summary == "2 tasks: 2 valid"
    assert ValidationResult(3, 1, (finding,) * 4, 5, 1).summary == (
        "3 tasks: 1 valid, 2 not valid (9 findings); 1 of these put a thing where none can be put"
    )


def test_twenty_findings_of_a_line_are_kept(tmp_path, scenes):
    row = tiny.single()
    row["phase_1"]["Single robot travel path"]["robot_1"] = ["x"] * 30
    result = check(tmp_path, scenes, row)
    assert (len(result.findings), result.left_out) == (20, 0)
    assert len(find_problems(row, lambda _: tiny.home())) == 20


def test_a_list_of_another_length_says_how_long_it_is(tmp_path, scenes):
    row = tiny.single()
    walked = row["phase_1"]["Single robot travel path"]
    walked["robot_1"] = walked["robot_1"][:1] * 401
    finding, *_ = check(tmp_path, scenes, row).findings
    assert finding.problem == "holds 401, expected at most 400"
    assert finding.where == 'phase_1 "Single robot travel path" robot_1'
    row = tiny.relay_a1()
    row["phase_2"]["Subtask list"]["robot_1"] = row["phase_2"]["Subtask list"]["robot_1"][:1]
    finding, *_ = check(tmp_path, scenes, row).findings
    assert finding.problem == "holds 1, expected at least 4"
