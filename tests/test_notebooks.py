"""The example notebooks run from their first cell to their last, in an empty folder."""

from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parent.parent / "examples" / "notebooks"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own packages
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient  # seconds of computing: only where it is used
    from nbformat import reads

    notebook = reads(path.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code"), (
        "outputs are stripped"
    )
    done = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "reward.json").exists() or (tmp_path / "walks_reward.json").exists()
    assert any(cell.get("outputs") for cell in done.cells)
