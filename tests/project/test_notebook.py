"""The example notebook runs, and what is kept of its run gives nothing away about the machine."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "example.ipynb"
ABSOLUTE = re.compile(r"(?<![\w.:/<])/(home|root|tmp|usr|var|work|opt|Users|private)/|[A-Z]:\\\\")


@pytest.fixture(scope="module")
def executed_notebook(tmp_path_factory):
    """The notebook with its outputs, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(NOTEBOOK.parents[1] / "src"), *([before] if before else [])])
    try:
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
        yield client.execute(), folder
    finally:
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def kinds(notebook):
    return [sorted(output.get("data", {})) for output in outputs(notebook)]


def test_it_runs_and_shows_charts_and_mechanisms(executed_notebook):
    notebook, folder = executed_notebook
    assert not [output for output in outputs(notebook) if output.output_type == "error"]
    pictures = [output for output in outputs(notebook) if "image/svg+xml" in output.get("data", {})]
    assert len(pictures) == 5
    text = str(outputs(notebook))
    assert "The certificate holds." in text
    assert re.search(r"'text/html': '\d+\.\d s'", text)  # what the progress bar leaves
    assert "3 of 10 draws are released" in text
    assert "Public: nothing on this page" in (folder / "public.html").read_text()
    assert "pay.eq" in os.listdir(folder)


def test_what_is_kept_is_of_such_a_run(executed_notebook):
    kept = nbformat.read(NOTEBOOK, as_version=4)
    assert kinds(kept) == kinds(executed_notebook[0])
    assert all(cell.execution_count for cell in kept.cells if cell.cell_type == "code")


def test_no_absolute_paths(executed_notebook):
    for notebook in (nbformat.read(NOTEBOOK, as_version=4), executed_notebook[0]):
        for output in outputs(notebook):
            assert not ABSOLUTE.search(str(output))
