"""Creating studies: the built-in protocols fit every world and any data, without what does not apply."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from prefero import Pool, worlds
from prefero.studies.create import create_study, protocol_for
from prefero.studies.protocol.protocol import BUILT_IN, read_protocol
from prefero.studies.protocol.toml import protocol_toml
from prefero.studies.session import Session
from prefero.studies.storage.store import Store
from studies.fake_study import WithoutPreparations, complete_stages, invited, protocol_of, refusal, respond

PAPER = BUILT_IN["paper"]


def small_pool(what: str, *_: object, **__: object) -> Pool:
    """In place of a large one."""
    if what == "golf":
        return Pool.simulate(worlds.make("golf"), 4, sampling="grid", progress=False)
    return Pool.simulate(worlds.make(what), 6, progress=False)


def gymnasium_world() -> worlds.World:
    return worlds.from_gymnasium(
        "Pendulum-v1",
        feature_function=lambda observations, actions: [observations[:, 0].mean(), np.abs(actions).mean()],
        feature_names=["uprightness", "effort"],
        max_steps=5,
    )


@pytest.fixture
def pendulum() -> Iterator[str]:
    """A Gymnasium world of the user's own."""
    worlds.register("pendulum", gymnasium_world)
    yield "pendulum"
    worlds.REGISTRY.unregister("pendulum")


def walk_through(store: Store, name: str) -> list[str]:
    """The stages before the first question, and that it is asked."""
    study = store.study(name)
    slots = WithoutPreparations()
    session = Session(store, study, invited(store, study=study), slots)
    shown = [session.state()]
    while shown[-1].stage != "compare":
        shown.append(respond(session, shown[-1]))
    assert respond(session, shown[-1]).answered == 1
    slots.close()
    return [state.stage for state in shown]


# --- every world and any data -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "protocol"),
    [
        ("driver", "paper"),
        ("driver", "paper-and-prefero"),
        *((w, "paper") for w in ("tosser", "golf", "pendulum")),
    ],
)
def test_a_built_in_protocol_fits_every_world(
    what: str, protocol: str, file_store: Store, pendulum: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pendulum in worlds.names()
    monkeypatch.setattr("prefero.studies.create.pool_of", small_pool)
    made = create_study(file_store, "mine", BUILT_IN[protocol], what)
    golf = what == "golf"
    reason = f"target_scores, because {what} has no targets"
    assert made.left_out == (() if golf else (reason,))
    assert (made.protocol.target_scores, made.protocol.world, made.protocol.title) == (
        golf,
        what,
        what.title(),
    )
    assert file_store.owner_of(made.secret) == (made.study, None)
    scores = ["target_scores"] if golf else []
    assert walk_through(file_store, "mine") == ["consent", "instructions", *scores, "practice", "compare"]
    for text in (made.protocol.consent, made.protocol.instructions):
        assert golf or "golf" not in text
        assert "left" not in text


def walks_csv(folder: Path) -> Path:
    rows = np.random.default_rng(0).standard_normal((12, 2)).tolist()
    path = folder / "walks.csv"
    path.write_text("speed,effort\n" + "".join(f"{a},{b}\n" for a, b in rows), encoding="utf-8")
    return path


def test_a_study_is_about_a_table_and_can_be_completed(file_store: Store, tmp_path: Path) -> None:
    protocol = replace(PAPER, methods=tuple(replace(m, questions=1) for m in PAPER.methods), tests=1)
    made = create_study(file_store, "mine", protocol, str(walks_csv(tmp_path)))
    assert made.trajectories == 12
    assert made.left_out == (f"target_scores, because {tmp_path / 'walks.csv'} has no targets",)
    assert (made.protocol.title, made.protocol.pool, made.protocol.world) == ("walks", "walks.csv", None)
    slots = WithoutPreparations()
    session = Session(file_store, made.study, invited(file_store, study=made.study), slots)
    assert complete_stages(session)[-1].stage == "done"
    slots.close()


def test_the_path_of_the_data_is_not_stored_with_the_study(file_store: Store, tmp_path: Path) -> None:
    """Exports are published, and other machines have the same data elsewhere."""
    made = create_study(file_store, "mine", PAPER, str(walks_csv(tmp_path)))
    assert str(tmp_path) not in str(made.study.protocol)


def test_trajectories_are_those_of_the_call_or_the_protocol(file_store: Store, tmp_path: Path) -> None:
    table = str(walks_csv(tmp_path))
    counts = [
        create_study(file_store, name, replace(PAPER, trajectories=own), table, given).trajectories
        for name, own, given in (("a", None, None), ("b", 5, None), ("c", 5, 4))
    ]
    assert counts == [12, 5, 4]


def test_without_a_world_or_a_pool_it_says_how_to_give_one(file_store: Store) -> None:
    with pytest.raises(ValueError, match=r"neither a world nor a pool: .*--world"):
        create_study(file_store, "mine", protocol_of())


def test_a_name_that_is_taken_is_refused_before_anything_is_simulated(
    file_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_study(file_store, "mine", PAPER, str(walks_csv(tmp_path)))
    monkeypatch.setattr("prefero.studies.create.pool_of", lambda *_, **__: pytest.fail("simulated"))
    with refusal("study-exists"):
        create_study(file_store, "mine", PAPER, "golf")


# --- protocols to edit ------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["driver", "golf", "data/walks.csv"])
def test_a_protocol_printed_for_a_world_or_data_creates_a_study(
    what: str, file_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    walks_csv(tmp_path / "data")
    if not what.endswith(".csv"):
        monkeypatch.setattr("prefero.studies.create.pool_of", small_pool)
    path = tmp_path / "mine.toml"
    path.write_text(protocol_toml(protocol_for(PAPER, what)), encoding="utf-8")
    made = create_study(file_store, "mine", read_protocol(str(path)))
    assert made.left_out == ()
    assert made.protocol.target_scores == (what == "golf")
    assert made.protocol.methods == PAPER.methods
