"""The example notebook runs, and what is kept of its run gives nothing away about the machine."""

import os
import re

import nbformat
import pytest

from docs_build.notebook import EXAMPLE, executed

NAMES_OF_FORMATS = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
"""They say what SVG is; nobody loads them."""

ABSOLUTE = re.compile(r"(?<![\w.:/<])/(home|root|tmp|usr|var|work|opt|Users|private)/|[A-Z]:\\\\")


@pytest.fixture(scope="module")
def executed_notebook(tmp_path_factory):
    """The notebook with its outputs, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("notebook")
    return executed(EXAMPLE, folder), folder


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def kinds(notebook):
    return [sorted(output.get("data", {})) for output in outputs(notebook)]


def test_it_runs_and_shows_charts_and_mechanisms(executed_notebook):
    notebook, folder = executed_notebook
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    pictures = [output for output in outputs(notebook) if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 2
    text = str(outputs(notebook))
    assert "The certificate holds." in text
    assert re.search(r"'text/html': '\d+\.\d s'", text)  # what the progress bar leaves
    assert "Epsilon 1 is left for one more mechanism." in text
    assert "Public: nothing on this page" in (folder / "public.html").read_text()
    assert {"icu.eq", "patients.book"} <= set(os.listdir(folder))
    assert len((folder / "rows.csv").read_text().splitlines()) == 501


def test_a_cell_shows_one_thing_and_loads_nothing(executed_notebook):
    for cell in executed_notebook[0].cells:
        found = [output for output in cell.get("outputs", []) if output.output_type != "stream"]
        values = [output for output in found if output.output_type == "execute_result"]
        bars = [output for output in found if re.fullmatch(r"\d+\.\d s", output.data.get("text/html", ""))]
        assert [*bars, *values] == found
        for output in found:
            assert output.data["text/plain"]
            assert set(re.findall(r"https?://[^\s\"'<>]*|<script", str(output.data))) <= NAMES_OF_FORMATS


def test_what_is_kept_is_of_such_a_run(executed_notebook):
    kept = nbformat.read(EXAMPLE, as_version=4)
    assert kinds(kept) == kinds(executed_notebook[0])
    assert all(cell.execution_count for cell in kept.cells if cell.cell_type == "code")


def test_no_absolute_paths(executed_notebook):
    for notebook in (nbformat.read(EXAMPLE, as_version=4), executed_notebook[0]):
        for output in outputs(notebook):
            assert not ABSOLUTE.search(str(output))
