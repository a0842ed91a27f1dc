"""What the commands share: the console, and a look at paths before any work is done."""

from pathlib import Path

from rich.console import Console

from prefero.extras import need

console = Console()
SERVER = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "pyarrow")
PICTURES = (".png", ".pdf", ".svg")


def check_server() -> None:
    """Before any work is done: is there all that a server takes?"""
    for package in SERVER:
        need(package, extra="server")


def check_paths(out: Path | None, save: Path | None) -> None:
    """Before any work is done: can what it makes be written?"""
    if out and out.suffix.lower() not in PICTURES:
        raise ValueError(f"a picture is one of {', '.join(PICTURES)}, but --out is {out}")
    for path in (out, save):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
