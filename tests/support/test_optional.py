"""Missing packages: one message names all extras that a command needs, and one command installs them."""

from importlib.metadata import PackageNotFoundError, requires

import pytest

from prefero import __main__ as program
from prefero._support import optional
from prefero._support.optional import MissingExtra, missing_packages, need

DECLARED = [
    "numpy>=2.1",
    'typer>=0.15; extra == "cli"',
    "rich>=13; extra == 'cli'",
    'fastapi>=0.115; extra == "server"',
    'prefero[server]; extra == "postgres"',
    'psycopg[binary]>=3.2; extra == "postgres"',
    'mujoco>=3.11; extra == "worlds"',
    'matplotlib>=3.9; extra == "plots"',
]


@pytest.fixture
def core_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefero without extras."""

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(optional, "requires", lambda _: DECLARED)
    monkeypatch.setattr(optional, "version", absent)
    monkeypatch.setattr(
        optional, "install_command", lambda extras: f"pip install 'prefero[{','.join(extras)}]'"
    )


@pytest.mark.usefixtures("core_only")
def test_the_packages_of_an_extra_are_those_that_are_declared() -> None:
    assert missing_packages("cli") == ["typer", "rich"]
    assert missing_packages("postgres") == ["fastapi", "psycopg"]
    assert missing_packages("unheard of") == []


def test_in_this_environment_no_package_of_the_command_line_is_missing() -> None:
    assert missing_packages("cli") == missing_packages("server") == []


@pytest.mark.parametrize(
    ("words", "extras"),
    [
        ("--version", "cli"),
        ("teach driver", "cli server"),
        ("teach golf --questions 5", "cli server worlds"),
        ("teach pool.npz", "cli server"),
        ("teach my_dataset --database postgresql://here/db", "cli server datasets postgres"),
        ("features arm --out f.parquet", "cli datasets"),
        ("simulate tosser --out results/simulate.png", "cli worlds plots"),
        ("show driver --out driver.mp4", "cli plots worlds"),
        ("export reward.json --out reward.onnx", "cli onnx"),
        ("reproduce", "cli experiments plots worlds"),
        ("study create golf-study --world golf", "cli server worlds"),
    ],
)
def test_the_extras_of_a_command_are_known_from_its_words(words: str, extras: str) -> None:
    assert program.extras_of(words.split()) == extras.split()


@pytest.mark.usefixtures("core_only")
def test_one_message_names_everything_that_a_command_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(module: str, *, extra: str) -> None:
        raise MissingExtra(f"{module} is missing", extra)

    monkeypatch.setattr(program, "need", lacking)
    monkeypatch.setattr("sys.argv", ["prefero", "teach", "golf"])
    with pytest.raises(SystemExit, match="2"):
        program.main()
    assert capsys.readouterr().err == (
        "prefero: this needs the packages 'typer', 'rich', 'fastapi', 'mujoco', which are not installed: "
        "type  pip install 'prefero[cli,server,worlds]'\n"
    )


def test_every_extra_that_a_command_may_name_is_declared() -> None:
    named = {"cli", "datasets", "postgres", *program.WORD_EXTRAS.values(), *program.SUFFIX_EXTRAS.values()}
    named |= {extra for extras in program.COMMAND_EXTRAS.values() for extra in extras}
    declared = {match[3] for match in map(optional.REQUIREMENT.match, requires("prefero") or []) if match}
    assert named <= declared


def test_a_package_that_is_missing_is_an_error_with_its_extra() -> None:
    with pytest.raises(MissingExtra, match="the package 'nowhere', which is not installed: type  ") as caught:
        need("nowhere.at.all", extra="plots")
    assert caught.value.extras == ("plots",)
