"""The same blocks as markdown, on one screen of a terminal, and as a page's record."""

from __future__ import annotations

from navloom.evals.report.blocks import (
    Bars,
    Block,
    Columns,
    Fact,
    Facts,
    Grid,
    Prose,
    SceneMap,
    Segment,
    Transcript,
    Variants,
    block_to_json,
)
from navloom.evals.report.blocks import Utterance as Turn
from navloom.evals.report.formatting import Table
from navloom.evals.report.report_files import blocks_to_markdown, terminal_screen

GOOD, BAD = Segment(name="good", count=3), Segment(name="bad", count=0.5)
BLOCKS: list[Block] = [
    Prose(title="A <run>", text="It went well."),
    Facts(title="Counts", facts=(Fact(name="asked", value="4", note="in all"),)),
    Variants(
        title="By run",
        variants=(("one", (Bars(title="Ends", bars=(("a", (GOOD,)), ("b", (BAD,)))),)),),
    ),
    Columns(columns=((Transcript(title="Said", said=(Turn(who="it", text="a|b"),)),),)),
    SceneMap(scene="demo:flat"),
    Grid(table=Table("Lid", "", ("x",), (("hidden",),), folded="more")),
    Grid(table=Table("Scores", "Means.", ("run", "SR"), (("a", "50.0%"), ("b", "–")), pale=1)),
    Grid(table=Table("Others", "", ("run",), (("c",),))),
]


def test_markdown_holds_every_text_and_number() -> None:
    assert blocks_to_markdown(BLOCKS).split("\n\n") == [
        "# A &lt;run>",
        "It went well.",
        "## Counts",
        "|  | value |\n| --- | ---: |\n| asked | 4 (in all) |",
        "## one: Ends",
        "|  | good | bad |\n| --- | ---: | ---: |\n| a | 3 | 0 |\n| b | 0 | 0.50 |",
        "## Said",
        "it: a\\|b",
        "## Lid",
        "| x |\n| --- |\n| hidden |",
        "## Scores",
        "| run | SR |\n| --- | ---: |\n| a | 50.0% |\n| b | – |",
        "Means.",
        "## Others",
        "| run |\n| --- |\n| c |\n",
    ]


def test_a_screen_has_the_first_open_table_and_no_row_of_others() -> None:
    text, table = terminal_screen(BLOCKS)
    assert text == "A <run>\n\nIt went well.\n\n"
    assert table.title == "Scores"
    assert (table.header, table.rows) == (("run", "SR"), (("a", "50.0%"),))


def test_each_run_of_several_has_its_own_table_on_the_screen() -> None:
    shown = terminal_screen([*BLOCKS, Prose(title="Another", text=""), *BLOCKS[-2:]])
    assert [each if isinstance(each, str) else each.title for each in shown] == [
        "A <run>\n\nIt went well.\n\n", "Scores", "Another\n\n", "Scores",
    ]  # fmt: skip


def test_a_page_has_every_block_by_its_name() -> None:
    names = [each["block"] for each in block_to_json(BLOCKS)]
    assert names == [each.__class__.__name__ for each in BLOCKS]
