"""The arguments and options of `prefero study`."""

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from prefero.cli.options import SERVER
from prefero.datasets.registry import describe_formats

PORT = 8766
LOCAL = f"http://127.0.0.1:{PORT}/"


def check_base(base: str | None) -> str | None:
    """An error if links could not begin with this."""
    try:
        address = urlsplit(base or LOCAL)
        named = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:  # a port that is no number, or too large
        named = False
    if not named or address.query or address.fragment:
        raise ValueError(f"--base is an address such as https://lab.example/, but this is {base!r}")
    return base


Name = Annotated[str, typer.Argument(help="The study's name.", show_default=False)]
Base = Annotated[
    str,
    typer.Option(
        metavar="URL",
        callback=check_base,
        help="The server's address as people reach it, which links begin with.",
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL",
        help="The database: a file, or postgresql://user@host/name. By default studies.db in Prefero's data "
        "folder.",
        show_default=False,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the folder if it is there: an earlier report or export.")
]


What = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help=f"What the study is about, if not the protocol's: a world, a pool file (.npz), or "
        f"{describe_formats()}.",
        show_default=False,
    ),
]
ProtocolName = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="What participants do: a built-in protocol (paper, paper-and-prefero), or a TOML file as "
        "`prefero study protocol` prints it.",
    ),
]
Participants = Annotated[
    int, typer.Option(min=0, help="How many participants to invite at once; see `prefero study invite`.")
]
Trajectories = Annotated[
    int | None,
    typer.Option(min=2, help="How many trajectories it asks about: simulated, or those that differ most."),
]
TaskDescription = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What to do, in a sentence that is shown above every question, and that judges are told; by "
        "default the protocol's, or the world's.",
        show_default=False,
    ),
]
Host = Annotated[
    str,
    typer.Option(
        rich_help_panel=SERVER, help="The address to listen on; 0.0.0.0 lets other machines reach it."
    ),
]
Port = Annotated[
    int, typer.Option(min=0, max=65535, rich_help_panel=SERVER, help="The port; 0 selects a free one.")
]
ServerBase = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=check_base,
        rich_help_panel=SERVER,
        help="The server's address as people reach it, for example through a proxy. The server answers "
        "to its host name; with https:// cookies are sent over HTTPS alone.",
        show_default=False,
    ),
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        rich_help_panel=SERVER,
        help="The address of a proxy that sends the participants' own addresses (X-Forwarded-For), for "
        "which limits hold then; may be given more than once.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=0,
        rich_help_panel=SERVER,
        help="How many worker processes compute questions; by default one a core. With 0 the server itself "
        "does.",
        show_default=False,
    ),
]
Https = Annotated[
    bool,
    typer.Option(
        "--https",
        rich_help_panel=SERVER,
        help="Send cookies over HTTPS alone, also without --base; for a proxy that has HTTPS.",
    ),
]
Clips = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FOLDER",
        help="A folder whose videos may be sent, if the study was made elsewhere; may be repeated.",
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run the code that opened files name: environments and policies."),
]
