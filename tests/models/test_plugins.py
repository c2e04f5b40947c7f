"""Providers of other packages: found by entry point, imported when named, broken without harm."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from navloom.cli.main import main
from navloom.errors import ModelError
from navloom.models.model_call import model_name
from navloom.models.model_registry import get_model, list_providers

MODULE = """
import pathlib
pathlib.Path(__file__).with_name("imported").touch()
from langchain_core.messages import AIMessage
from navloom.models.scripted import ScriptedChatModel
from navloom.models.model_spec import Provider

def make(name, options):
    if name == "broken":
        raise ValueError("weights\\nmissing")
    if name == "odd":
        return "not a model"
    return ScriptedChatModel([AIMessage(f"{name} at {options.temperature}")])

whole = Provider("ignored", "a whole provider", make, models=("one",), is_open=False)
number = 7
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Puts a distribution with these entry points on the path, as pip would."""
    names: list[str] = []

    def put(package: str, points: str, module: str = MODULE) -> Path:
        folder = tmp_path / package
        info = folder / f"{package}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text(f"[navloom.models]\n{points}\n")
        (folder / f"{package}_mod.py").write_text(module)
        names.append(f"{package}_mod")
        monkeypatch.syspath_prepend(str(folder))
        return folder

    yield put
    for name in names:
        sys.modules.pop(name, None)


def fails(spec: str) -> str:
    with pytest.raises(ModelError) as caught:
        get_model(spec)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_function_makes_the_models_and_is_imported_when_named(
    install: Callable[..., Path],
) -> None:
    folder = install("acme", "acme = acme_mod:make")
    assert "providers: builtin," in fails("nobody/x")
    get_model("builtin/heuristic")
    assert not (folder / "imported").exists()
    model = get_model("acme/org/name", temperature=0.5)
    assert (folder / "imported").exists()
    assert model_name(model) == "acme/org/name"
    assert model.invoke("x").content == "org/name at 0.5"


def test_a_whole_provider_keeps_what_it_says(install: Callable[..., Path]) -> None:
    install("acme", "acme = acme_mod:whole")
    assert get_model("acme/one").invoke("x").content == "one at None"
    assert "No model 'acme/ony'. Did you mean 'one'? There are: acme/one." in fails("acme/ony")
    (provider,) = (p for p in list_providers() if p.name == "acme")
    assert (provider.about, provider.missing_setup()) == ("a whole provider", None)


def test_a_wrong_name_is_told_of_them(install: Callable[..., Path]) -> None:
    install("acme", "acme = acme_mod:make")
    said = fails("acmee/x")
    assert "Did you mean 'acme'?" in said
    assert said.endswith("vllm, local, acme.")
    assert "write acme/NAME" in fails("acme/")


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ("bad = no_such_module:make", "cannot be imported: ModuleNotFoundError"),
        ("bad = acme_mod:nothing", "cannot be imported: AttributeError"),
        ("bad = acme_mod:number", "is a int: expected a function (name, options) -> chat model"),
    ],
)
def test_a_broken_one_is_one_line_and_hurts_nobody(
    points: str, said: str, install: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    install("acme", points)
    install("good", "good = good_mod:make")
    assert said in fails("bad/x")
    assert "of the package acme" in fails("bad/x")
    assert get_model("good/x").invoke("x").content == "x at None"
    assert get_model("builtin/heuristic")
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert "from the package good 1.2" in out
    assert main(["doctor"]) == 0
    assert said in capsys.readouterr().out


def test_a_list_of_entry_points_that_cannot_be_read(install: Callable[..., Path]) -> None:
    install("acme", "this is no entry point")
    install("good", "good = good_mod:make")
    assert get_model("good/x").invoke("x").content == "x at None"
    (broken,) = (p for p in list_providers() if p.fault)
    assert "acme has a broken entry_points.txt" in str(broken.fault)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "cannot make the model 'broken': ValueError: weights missing"),
        ("odd", "gave a str: expected a LangChain chat model"),
    ],
)
def test_what_goes_wrong_inside_is_its_own_fault(
    name: str, said: str, install: Callable[..., Path]
) -> None:
    install("acme", "acme = acme_mod:make")
    assert said in fails(f"acme/{name}")


def test_a_name_that_is_taken_stays_with_its_owner(install: Callable[..., Path]) -> None:
    install("acme", "builtin = acme_mod:make")
    assert "navloom" in type(get_model("builtin/heuristic")).__module__
    (fault,) = (p.fault for p in list_providers() if p.fault)
    assert fault == (
        "the provider 'builtin' of the package acme (acme_mod:make) is not used: the name is taken"
    )
