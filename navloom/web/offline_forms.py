"""A rater's form as one HTML file: it needs no server, stores answers in the browser, saves a file.

The file contains no token. ``navloom study people ... --answers FILE`` reads the saved answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from navloom.errors import UsageError
from navloom.evals.people.study_folder import PeopleStudy, Rater
from navloom.files import write_run_file
from navloom.web.bundle import one_file_page
from navloom.web.documents import Documents
from navloom.web.run_source import LICENSED
from navloom.web.study_source import StudySource, form_record, plan_keys, rater_item


def write_forms(people: PeopleStudy, *, licensed: bool = False) -> Iterator[Path]:
    """Write ``form-NAME.html`` of each rater into the study's folder.

    Args:
        people: the study.
        licensed: whether to include plans that scene licences restrict.

    Yields:
        Each file as it is written.

    Raises:
        UsageError: the form needs the server, or a licence restricts its plans.
    """
    if strange := next((each for each in people.items.values() if each.page != "read"), None):
        raise UsageError(
            f"--one-file: items of the form '{people.form.name}' ({strange.page}) need the server:"
            f" give out the links of `navloom view {people.path}`"
        )
    kept = {each.scene for each in people.items.values() if each.scene.startswith(LICENSED)}
    if kept and not licensed:
        raise UsageError(
            f"--one-file: the licence of {sorted(kept)[0]} keeps its plan from being given on;"
            " whoever may have it is given the files with --with-licensed"
        )
    documents = Documents([StudySource(people.path)])
    plans: dict[str, Any] = {}
    for rater in people.file.raters:
        path = people.path / f"form-{rater.name}.html"
        pages = _pages(people, rater, documents, plans)
        write_run_file(path, one_file_page(pages, "", people=True))
        yield path


def _pages(
    people: PeopleStudy, rater: Rater, documents: Documents, plans: dict[str, Any]
) -> dict[str, Any]:
    """Return all documents of a rater's form, by path."""
    made: dict[str, Any] = {"people/me": {**form_record(people, rater.name), "ids": rater.items}}
    for place, name in enumerate(rater.items):
        made[f"people/item/{place}"] = rater_item(people.items[name])
    for key in plan_keys(people, rater):
        path = f"plan/{key}"
        if path not in plans:
            plans[path] = documents.get(path)
        made[path] = plans[path]
    return made
