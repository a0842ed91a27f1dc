"""A protocol as the text of a TOML file with comments, to be edited and used by `study create`."""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import fields

from prefero.methods import DEFAULT_SIGMA, DEFAULT_THETA, FIXED
from prefero.studies.protocol.protocol import STUDY_NAMES, Protocol, StudyMethod

WIDTH = 100  # letters of a line of a text
COLUMN = 25  # letters before a comment

COMMENTS = {f.name: f.metadata["comment"] for f in fields(Protocol) if f.metadata}
METHOD_COMMENTS = {
    "label": "its name in the report",
    "method": "",
    "questions": "how many it asks each participant",
}
TEXTS = ("consent", "instructions", "thanks", "task_description")


def protocol_toml(protocol: Protocol) -> str:
    """The file's text; reading it gives the same protocol."""
    return "\n".join([*_head(), *_settings(protocol), *_methods(protocol)]) + "\n"


def _head() -> Iterator[str]:
    yield "# The protocol of a study. Edit it, save it as mine.toml, and create the study:"
    yield "#     prefero study create NAME --protocol mine.toml"
    yield "# Participants see the title and the texts; the other settings say what they do."
    yield ""


def _settings(protocol: Protocol) -> Iterator[str]:
    """One line a setting, and more for texts."""
    absent = {name for name in ("world", "pool", "trajectories") if getattr(protocol, name) is None}
    for name in COMMENTS:
        value = getattr(protocol, name)
        if name in TEXTS and value:
            yield from ("", f"# {COMMENTS[name]}", f"{name} = {_text(value)}")
        elif name == "target_scores":
            yield from ("", _line(f"{name} = {_value(value)}", COMMENTS[name]))
        elif name not in absent:
            yield _line(f"{name} = {_value(value)}", COMMENTS[name])
        elif name == "trajectories":
            yield _line("# trajectories = 400", COMMENTS[name])
    if {"world", "pool"} <= absent:
        yield _line('# world = "driver"', COMMENTS["world"])
    yield ""


def _methods(protocol: Protocol) -> Iterator[str]:
    plain = [name for name in STUDY_NAMES if name not in FIXED]
    usual = f"theta {DEFAULT_THETA:g} and sigma {DEFAULT_SIGMA:g}"
    yield "# The methods, each with its own questions, from which it alone learns. There are"
    yield f"#     {', '.join(map(_value, plain))}"
    yield f"#     {', '.join(map(_value, FIXED))}"
    yield f'# where the last {len(FIXED)} have {usual}, unless both follow the name: "ActiveGP 0.3 0.1".'
    for method in protocol.methods:
        yield from ("", "[[methods]]")
        for f in fields(StudyMethod):
            yield _line(f"{f.name} = {_value(getattr(method, f.name))}", METHOD_COMMENTS[f.name])


def _value(value: str | int | tuple[str, ...]) -> str:
    """As in JSON, but for the one control character that only TOML escapes."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _line(setting: str, comment: str) -> str:
    return f"{setting:{COLUMN}} # {comment}" if comment else setting


def _text(text: str) -> str:
    """A text of several lines, which are joined again when it is read."""
    paragraphs = (textwrap.fill(one, WIDTH, break_on_hyphens=False) for one in text.split("\n\n"))
    escaped = "\n\n".join(paragraphs).replace("\\", "\\\\").replace('"""', '""\\"')
    return f'"""\n{escaped}\n"""'
