"""Make the gallery of the documentation: run the examples, and write a page and a picture of each.

    python -m tools.make_gallery docs/gallery           # all but the long ones
    python -m tools.make_gallery docs/gallery teach     # some of them

An example is a program in `examples/` with this docstring: a title, paragraphs in Markdown, and a last
paragraph "Picture: ..." that says what its picture shows. It saves the picture, called like the program, in
the current folder. The page has the docstring, the picture, the program and what it prints.
"""

import argparse
import ast
import contextlib
import io
import re
import runpy
import tempfile
import textwrap
import warnings
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any, Self

import matplotlib
import matplotlib.pyplot as plt
from PIL import Image

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SECTIONS = {
    "Begin": ("teach", "what_you_know"),
    "Your own data": ("your_table", "videos", "bad_episodes"),
    "Ask and judge": ("what_passes", "several_people", "compare_policies"),
    "Use the reward": ("train_a_policy", "ask_about_plans", "teach_while_training", "run_on_a_robot"),
    "Extend": ("your_own_kernel",),
}
LONG = {"teach_while_training": "two minutes, and `pip install 'prefero[train,worlds]'`"}
NAMES = tuple(chain.from_iterable(SECTIONS.values()))
INK = "#7d848d"  # readable on a white and on a dark page
STYLE: dict[Any, Any] = {
    "savefig.transparent": True,
    "savefig.dpi": 140,
    "font.size": 10,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color", "grid.color"), INK),
}
COLORS = 128  # of a picture, so that its file is small


@dataclass(frozen=True)
class Example:
    """A program of the gallery.

    Args:
        name: Of its file and its picture.
        title: The first line of its docstring, without the full stop.
        text: What follows, in Markdown.
        caption: What the picture shows.
        code: The program without its docstring.
    """

    name: str
    title: str
    text: str
    caption: str
    code: str

    @classmethod
    def read(cls, name: str) -> Self:
        """The example of this name."""
        source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        tree = ast.parse(source)
        title, *paragraphs = (ast.get_docstring(tree) or "").split("\n\n")
        if not paragraphs or not paragraphs[-1].startswith("Picture: "):
            raise ValueError(f"the docstring of {name}.py has no last paragraph 'Picture: ...'")
        code = "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()
        caption = " ".join(paragraphs[-1].removeprefix("Picture: ").split())
        return cls(name, title.rstrip("."), "\n\n".join(paragraphs[:-1]), caption, code)

    def page(self, printed: str) -> str:
        """The page of this example, with what it printed."""
        takes = f"It takes {LONG[self.name]}. " if self.name in LONG else ""
        return (
            f"# {self.title}\n\n{self.text}\n\n![{self.caption}]({self.name}.png)\n\n*{self.caption}*\n\n"
            f"```python\n{self.code}\n```\n\n```text\n{printed.strip()}\n```\n\n"
            f"{takes}The program is `examples/{self.name}.py`. [All examples](index.md)\n"
        )

    @property
    def card(self) -> str:
        """The line of this example on the overview."""
        first = re.split(r"(?<=\.)\s", self.text, maxsplit=1)[0]
        return textwrap.dedent(f"""\
            - [![{self.caption}]({self.name}.png)]({self.name}.md)

                **[{self.title}]({self.name}.md)** {" ".join(first.split())}
            """)


def overview() -> str:
    """The page with all examples."""
    long = " ".join(f"`{name}.py` takes {takes}." for name, takes in LONG.items() if name in NAMES)
    cards = [
        f"## {section}\n\n" + "\n".join(Example.read(name).card for name in names)
        for section, names in SECTIONS.items()
    ]
    return (
        "# Examples\n\n"
        "Run any of these programs from a checkout, after `make setup`, with `.venv/bin/python`.\n"
        "Each has one idea, at most 60 lines and a picture, and takes some seconds on one core.\n"
        f"Simulated users answer with noise, from a fixed seed. {long}\n\n" + "\n".join(cards)
    )


def run(name: str, folder: Path) -> str:
    """Run an example in a folder, where it saves its picture; what it prints."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed), matplotlib.rc_context(STYLE):
        matplotlib.use("agg")
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    plt.close("all")
    return printed.getvalue()


def make(name: str, folder: Path) -> None:
    """The page and the picture of an example."""
    with tempfile.TemporaryDirectory() as place:
        printed = run(name, Path(place))
        image = Image.open(Path(place) / f"{name}.png").quantize(COLORS)
        image.save(folder / f"{name}.png", optimize=True)
    (folder / f"{name}.md").write_text(Example.read(name).page(printed), encoding="utf-8")


def main() -> None:
    """Make the pages of the examples named, and the overview."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="all but the long ones, if none is named")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("error")
    for name in options.names or [name for name in NAMES if name not in LONG]:
        began = process_time()
        make(name, options.folder)
        print(f"{name}: {process_time() - began:.1f} s of processor time", flush=True)
    (options.folder / "index.md").write_text(overview(), encoding="utf-8")


if __name__ == "__main__":
    main()
