"""Install a package outside Prefero for one test: a module, and the metadata that pip would write for it."""

import sys
from pathlib import Path

import pytest


def install_package(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    code: str,
    entry_points: dict[str, dict[str, str]],
) -> None:
    """Write `module`.py and its entry points, group -> name -> "module:attribute"; put them on sys.path."""
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = [
        line
        for group, points in entry_points.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, module, raising=False)
