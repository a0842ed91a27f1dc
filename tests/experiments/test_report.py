"""The report: every figure is in it, tables are tables, and nothing that was typed is taken for markup."""

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

import prefero
from experiments.fake_runs import TINY, Remembered, fabricate
from plots.read_reports import HtmlReader, images_in, tables_in
from prefero.experiments import report, statistics
from prefero.experiments.claims import Claim
from prefero.experiments.figures.base import TUNED, Figure, Scale
from prefero.experiments.report import write_report
from prefero.experiments.reproduce import FIGURES, plan_of
from prefero.experiments.results import Results
from prefero.experiments.runs import Run

COMMAND = "prefero reproduce --quick --out 'a & b <c>'"


def draw_dot(path: Path, shade: int) -> None:
    memory = io.BytesIO()
    Image.new("RGB", (2, 2), (shade, 0, 0)).save(memory, format="PNG")
    path.write_bytes(memory.getvalue())


# --- of all figures ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A report, and where it is."""

    folder: Path
    markdown: str
    html: HtmlReader


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("report")
    figures = list(FIGURES.values())
    results = Remembered(folder)
    fabricate(results, plan_of(figures, TINY))
    for shade, name in enumerate(FIGURES):
        draw_dot(folder / f"{name}.png", shade)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics, "DRAWS", 100)
        write_report(figures, results, TINY, folder, COMMAND, whole=True)
    return Written(
        folder,
        (folder / "report.md").read_text(encoding="utf-8"),
        HtmlReader((folder / "report.html").read_text(encoding="utf-8")),
    )


def test_every_figure_is_inside_the_page(whole: Written) -> None:
    wanted = [(f.title, (whole.folder / f"{name}.png").read_bytes()) for name, f in FIGURES.items()]
    assert whole.html.pictures == wanted


def test_every_link_of_the_markdown_leads_to_a_file(whole: Written) -> None:
    found = images_in(whole.markdown)
    assert found == {figure.title: f"{name}.png" for name, figure in FIGURES.items()}
    assert all((whole.folder / place).is_file() for place in found.values())


def test_the_tables_of_the_page_are_those_of_the_markdown(whole: Written) -> None:
    assert whole.html.tables == tables_in(whole.markdown)
    assert len(whole.html.tables) >= len(FIGURES) - 2


def test_every_figure_has_its_heading(whole: Written) -> None:
    assert set(whole.html.headings) >= {figure.title for figure in FIGURES.values()}
    assert whole.html.headings[0].endswith(f"Prefero {prefero.__version__}")


def test_the_claims_are_answered_in_sentences(whole: Written) -> None:
    assert len(whole.html.items) > 10
    assert all(item.startswith(("Holds: ", "Does not hold: ")) for item in whole.html.items)
    assert whole.markdown.count("\n- **") == len(whole.html.items)
    assert "What holds, and what does not" in whole.html.headings


def test_no_markup_of_markdown_is_left_in_the_page(whole: Written) -> None:
    for mark in ("**", "| ", "](", "##", "`"):
        assert mark not in whole.html.text.replace("prefero reproduce", "")


def test_the_command_is_told_as_it_was_typed(whole: Written) -> None:
    assert COMMAND in whole.html.text
    assert f"`{COMMAND}`" in whole.markdown
    assert "c" not in whole.html.tags


def test_what_was_run_is_told(whole: Written) -> None:
    for words in (
        f"{TINY.runs} runs with seeds from {TINY.first_seed} on",
        f"{TINY.questions} questions",
        f"{TINY.trajectories} trajectories",
        f"test sets of {TINY.test_size} diverse",
        f"theta {TUNED[0]:g} and sigma",
        "probit noise 0.1",
    ):
        assert words in " ".join(whole.html.text.split())


# --- of one figure ----------------------------------------------------------------------------------------


class Strange(Figure):
    """Nothing that it says is markup."""

    name = "strange"
    title = 'Tom & "Jerry" <script>'

    def plan(self, scale: Scale) -> list[Run]:  # noqa: ARG002
        return []

    def draw(self, results: Results, scale: Scale, path: Path) -> None:  # noqa: ARG002
        draw_dot(path, 200)

    def describe(self, results: Results, scale: Scale) -> str:  # noqa: ARG002
        return "| a < b | `x & y` |\n| --- | --- |\n| 5 > 4 | **bold** |\n\nUp to <b>here</b> & no further.\n"


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    judged = [Claim('x < y & "z"', True, "1 > 0."), Claim("<i>", False, "2 against 3.")]
    monkeypatch.setattr(report, "claims", lambda *_: iter(judged))
    figure, results = Strange(), Results(tmp_path)
    figure.draw(results, TINY, tmp_path / "strange.png")
    write_report([figure], results, TINY, tmp_path, "prefero reproduce", whole=True)
    return Written(
        tmp_path,
        (tmp_path / "report.md").read_text(encoding="utf-8"),
        HtmlReader((tmp_path / "report.html").read_text(encoding="utf-8")),
    )


def test_special_characters_are_escaped(strange: Written) -> None:
    assert strange.html.pictures == [(Strange.title, (strange.folder / "strange.png").read_bytes())]
    assert strange.html.headings[-1] == Strange.title
    assert strange.html.tables == [[["a < b", "x & y"], ["5 > 4", "bold"]]]
    assert "Up to <b>here</b> & no further." in strange.html.text
    assert strange.html.items == ['Holds: x < y & "z". 1 > 0.', "Does not hold: <i>. 2 against 3."]
    assert not {"script", "i"} & set(strange.html.tags)


def test_code_and_bold_words_are_marked(strange: Written) -> None:
    assert "code" in strange.html.tags
    assert strange.html.tags.count("b") == 3  # in the table, and before each claim


def test_a_part_of_the_figures_is_told_without_claims(tmp_path: Path) -> None:
    draw_dot(tmp_path / "strange.png", 1)
    write_report([Strange()], Results(tmp_path), TINY, tmp_path, "prefero", whole=False)
    assert "hold" not in (tmp_path / "report.md").read_text(encoding="utf-8")
