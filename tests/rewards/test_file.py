"""Reward files: whole, readable, checked, and loaded unchanged."""

import base64
import json
import os
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from example_rewards import MODELS, NAMES, every_reward, example_rewards, new, pool
from prefero import Learner, Pool, PreferenceGP, Question, Reward, kernels, load_reward
from prefero._support.arrays import Array
from prefero.kernels import RBF
from prefero.models.posterior.gaussian import Posterior
from prefero.questions import Comparisons
from prefero.rewards import file, packing
from prefero.rewards.compact import arrays_of
from prefero.rewards.file import RewardFileError
from prefero.rewards.packing import Numbers, pack, unpack


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of few numbers, which otherwise are exact, are written as those of many."""
    monkeypatch.setattr(file, "SMALL", 0)


@pytest.fixture
def rewards() -> dict[str, Reward]:
    return example_rewards()


MOST = 1e-3  # of a standard deviation: what a file may change


def same_predictions(before: Reward, after: Reward, x: Array) -> None:
    """Means and standard deviations agree, and covariances as much as standard deviations do."""
    (mean, std), (read_mean, read_std) = (one.predict(x, return_std=True) for one in (before, after))
    assert np.all(np.abs(read_mean - mean) <= MOST * std + 1e-9)
    assert np.all(np.abs(read_std - std) <= MOST * std + 1e-9)
    covariance, read = (one.predict(x, return_cov=True)[1] for one in (before, after))
    assert np.all(np.abs(read - covariance) <= 2 * MOST * np.outer(std, std) + 1e-9)


@every_reward
def test_a_loaded_reward_predicts_the_same(rewards: dict[str, Reward], name: str, tmp_path: Path) -> None:
    reward, x = rewards[name], new(8)
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    same_predictions(reward, loaded, x)
    np.testing.assert_allclose(
        loaded.predict_proba(x[:4], x[4:]), reward.predict_proba(x[:4], x[4:]), atol=MOST
    )
    assert [str(said) for said in loaded.explain(pool())] == [str(said) for said in reward.explain(pool())]
    assert loaded.describe() == reward.describe()
    assert loaded.diagnostics == reward.diagnostics
    assert loaded.belief.probit == reward.belief.probit


@every_reward
def test_saving_again_and_again_changes_no_more(
    rewards: dict[str, Reward], name: str, tmp_path: Path
) -> None:
    again = rewards[name]
    for _ in range(5):
        again.save(tmp_path / "reward.json")
        again = load_reward(tmp_path / "reward.json")
    same_predictions(rewards[name], again, new(8))


def of_people() -> dict[str, Reward]:
    """The rewards of a person and of the group that the person belongs to."""
    shown, learner = pool(), Learner(pool())
    for number in range(12):
        left, right, person = number, (number + 5) % len(shown), "ab"[number % 2]
        better = shown.scaled[left, 0] > shown.scaled[right, 0]
        learner.tell(Question(left, right), "left" if better else "right", person=person)
    return {"a person": learner.reward(person="a"), "the group": learner.reward()}


def of_many_answers() -> Reward:
    shown, rng = pool(200), np.random.default_rng(1)
    pairs = np.array([rng.choice(200, 2, replace=False) for _ in range(700)])
    won = np.where(
        (shown.scaled[pairs[:, 0], 0] > shown.scaled[pairs[:, 1], 0])[:, None], pairs, pairs[:, ::-1]
    )
    data = replace(Comparisons.of(shown.scaled, won), scaling=shown.scaling)
    return Reward(PreferenceGP(RBF(0.3), noise=0.2, learn=False).fit_comparisons(data).posterior_)


def of_a_ranking() -> Reward:
    learner = Learner(pool(), model=PreferenceGP(RBF(0.3), noise=0.1, learn=False))
    learner.tell(Question(0, 1, 2, kind="rank-3"), "2>1>3")
    return learner.reward()


@pytest.mark.parametrize("name", ["a person", "the group", "very many answers", "a ranking"])
def test_rewards_of_people_of_many_answers_and_of_rankings_are_loaded(name: str, tmp_path: Path) -> None:
    other = {"very many answers": of_many_answers, "a ranking": of_a_ranking}
    reward = other[name]() if name in other else of_people()[name]
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json")
    same_predictions(reward, loaded, new(8))
    assert loaded.describe() == reward.describe()


def test_a_file_is_short(tmp_path: Path) -> None:
    """Of 60 answers about 20 features. The arrays that predict had 60 x 60 numbers for each component."""
    rng = np.random.default_rng(0)
    shown = Pool(rng.standard_normal((40, 20)), [f"feature {n}" for n in range(20)])
    learner, true = Learner(shown), shown.scaled @ rng.standard_normal(20)
    for _ in range(60):
        left, right = (int(n) for n in rng.choice(40, 2, replace=False))
        learner.tell(Question(left, right), "left" if true[left] > true[right] else "right")
    reward = learner.reward()
    arrays = sum(
        8 * (one.whitener.size + one.alpha.size + one.points.size + one.others.size)
        for _, one in reward.belief.components
        if isinstance(one, Posterior)
    )
    reward.save(tmp_path / "reward.json")
    assert (tmp_path / "reward.json").stat().st_size < arrays / 6


@pytest.mark.parametrize(
    ("setting", "value"), [("TOLERANCE", -1.0), ("SMALL", 5000)], ids=["rounding changes it", "few numbers"]
)
def test_some_posteriors_are_written_to_the_last_bit(
    rewards: dict[str, Reward], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: float
) -> None:
    monkeypatch.setattr(file, setting, value)
    rewards["belief"].save(tmp_path / "reward.json")
    assert all("alpha" in part for part in posterior_in(tmp_path / "reward.json")["components"])
    loaded, x = load_reward(tmp_path / "reward.json"), new(8)
    for before, after in zip(
        rewards["belief"].predict(x, return_cov=True), loaded.predict(x, return_cov=True), strict=True
    ):
        np.testing.assert_array_equal(after, before)
    assert loaded.to_json() == rewards["belief"].to_json()


def posterior_in(path: Path) -> dict[str, Any]:
    """What a file says about the posterior."""
    return unpack(json.loads(path.read_text(encoding="utf-8"))["posterior"])


@every_reward
def test_a_file_can_be_read_by_anybody(rewards: dict[str, Reward], name: str, tmp_path: Path) -> None:
    rewards[name].save(tmp_path / "reward.json")
    document = json.loads((tmp_path / "reward.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"]) == ("prefero reward", 4)
    assert document["features"]["names"] == NAMES
    np.testing.assert_allclose(document["features"]["center"], pool().features.mean(axis=0))
    assert document["diagnostics"]["answers"] == (0 if name == "nothing yet" else 6)
    if name != "linear":
        assert document["answers"] == document["diagnostics"]["answers"]
        posterior = json.loads(zlib.decompress(base64.b64decode(document["posterior"])))
        points = posterior["arrays"][posterior["points"]["array"]]["shape"][0]
        assert all(-1 <= place < points for part in posterior["components"] for place in part["points"])
        assert sum(part["weight"] for part in posterior["components"]) == pytest.approx(1.0)


def test_names_in_any_language_survive(tmp_path: Path) -> None:
    shown = Pool(new(), ["速度", 'dist"ance\n'])
    Learner(shown, model=MODELS["sum"]).reward().save(tmp_path / "reward.json")
    assert load_reward(tmp_path / "reward.json").scaling.names == shown.names


def test_a_path_may_be_a_string(rewards: dict[str, Reward], tmp_path: Path) -> None:
    rewards["sum"].save(str(tmp_path / "reward.json"))
    assert load_reward(str(tmp_path / "reward.json"), names=NAMES).scaling.names == tuple(NAMES)


@pytest.mark.parametrize("name", ["belief", "linear"])
def test_a_truncated_file_is_refused_wherever_it_ends(
    rewards: dict[str, Reward], name: str, tmp_path: Path
) -> None:
    rewards[name].save(tmp_path / "reward.json")
    whole = (tmp_path / "reward.json").read_bytes()
    cut = tmp_path / "cut.json"
    for end in range(0, len(whole) - 2, 10 * (1 + len(whole) // 2000)):
        cut.write_bytes(whole[:end])
        with pytest.raises(RewardFileError, match=r"cut.json is damaged or no reward file"):
            load_reward(cut)


@pytest.mark.parametrize(
    "content", ["", "[]", "3", "null", '"prefero reward"', "{}", '{"format": "other"}', "<html>", "\0\1\2"]
)
def test_a_foreign_file_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(content, encoding="utf-8")
    with pytest.raises(RewardFileError, match=r"other.json is (not a|damaged or no) reward file"):
        load_reward(tmp_path / "other.json")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    with pytest.raises(RewardFileError, match="damaged or no reward file"):
        load_reward(tmp_path / "picture.json")


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere.json"):
        load_reward(tmp_path / "nowhere.json")


def test_a_folder_with_a_reward_file_is_loaded(rewards: dict[str, Reward], tmp_path: Path) -> None:
    with pytest.raises(RewardFileError, match=r"no reward\.json: .*Reward\.save"):
        load_reward(tmp_path)
    reward = next(iter(rewards.values()))
    reward.save(tmp_path / "reward.json")
    for folder in (tmp_path, f"{tmp_path}/"):
        assert load_reward(folder).scaling.names == reward.scaling.names


def changed(reward: Reward, path: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """The reward's file with something changed in it, also in what is packed."""
    reward.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    packed = unpack(document.pop("posterior")) if "posterior" in document else {}
    document |= packed
    change(document)
    if packed:
        known = {name: _numbers(document.pop(name)) for name in packed if name in document}
        document["posterior"] = pack(known)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    return Numbers(value) if isinstance(value, np.ndarray) else value


def test_a_newer_version_asks_for_an_upgrade(rewards: dict[str, Reward], tmp_path: Path) -> None:
    path = changed(rewards["sum"], tmp_path / "new.json", lambda d: d.update(version=5))
    with pytest.raises(RewardFileError, match=r"version 5, .*version 4: upgrade"):
        load_reward(path)


def test_an_older_version_has_to_be_saved_again(rewards: dict[str, Reward], tmp_path: Path) -> None:
    path = changed(rewards["sum"], tmp_path / "old.json", lambda d: d.update(version=3))
    with pytest.raises(RewardFileError, match=r"version 3, .*version 4: .*save the reward again"):
        load_reward(path)


@pytest.mark.parametrize("names", [["speed"], ["distance", "speed"], ["speed", "height"]])
def test_a_reward_about_other_features_is_refused(
    rewards: dict[str, Reward], names: Any, tmp_path: Path
) -> None:
    rewards["sum"].save(tmp_path / "reward.json")
    with pytest.raises(RewardFileError, match=f"speed, distance, .*{', '.join(names)}"):
        load_reward(tmp_path / "reward.json", names=names)


def nested(depth: int) -> dict[str, Any]:
    kernel: dict[str, Any] = {"kind": "Linear"}
    for _ in range(depth):
        kernel = {"kind": "Scaled", "variance": 1.0, "kernel": kernel}
    return kernel


def scaled(document: dict[str, Any], name: str, factor: float) -> None:
    part = document["components"][0]
    with np.errstate(over="ignore"):
        part[name] = factor * part[name]


def exact(document: dict[str, Any], name: str, factor: float) -> None:
    """As a file of a Gaussian that is written to the last bit, of which an array is multiplied."""
    part = document["components"][0]
    arrays = (part.pop(key) for key in ("mean", "precision", "root"))
    points, others = (document["points"][part[key]] for key in ("points", "others"))
    alpha, whitener = arrays_of(kernels.from_json(part["kernel"]), points, others, *arrays)
    part |= {"alpha": alpha, "whitener": whitener}
    scaled(document, name, factor)


DAMAGE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no features": lambda d: d.pop("features"),
    "no answers": lambda d: d.pop("answers"),
    "no components": lambda d: d.pop("components"),
    "no diagnostics": lambda d: d.pop("diagnostics"),
    "features of another kind": lambda d: d.update(features=[1, 2]),
    "no points": lambda d: d.pop("points"),
    "answers that are no number": lambda d: d.update(answers=[1, 2]),
    "points of other features": lambda d: d.update(points=np.ones((12, 3))),
    "a point that there is not": lambda d: d["components"][0]["points"].__setitem__(0, 1000),
    "a point after the last": lambda d: d["components"][0]["points"].__setitem__(0, len(d["points"])),
    "cut points that fall": lambda d: d["components"][0]["cut_points"].reverse(),
    "a cut point is missing": lambda d: d["components"][0]["cut_points"].pop(),
    "a source without noise": lambda d: d["components"][0].update(source_noise=[1.0, 0.0]),
    "a place before the first": lambda d: d["components"][0]["points"].__setitem__(0, -1),
    "a place is missing": lambda d: d["components"][0]["others"].pop(),
    "a place that is no number": lambda d: d["components"][0]["others"].__setitem__(0, "first"),
    "a mean of another shape": lambda d: d["components"][0].update(mean=np.ones(2)),
    "a root of another shape": lambda d: d["components"][0].update(precision=None, root=np.ones(2)),
    "neither a precision nor a root": lambda d: d["components"][0].update(precision=None, root=None),
    "a precision that falls": lambda d: d["components"][0].update(precision=-1e3 * np.ones(21), root=None),
    "a negative noise": lambda d: d["components"][0].update(noise=-1.0),
    "a lapse rate of 1": lambda d: d["components"][0].update(lapse=1.0),
    "more is explained than the prior has": partial(exact, name="whitener", factor=3.0),
    "a whitener that overflows": partial(exact, name="whitener", factor=1e300),
    "a mean that overflows": partial(exact, name="alpha", factor=1e308),
    "a kernel without a name": lambda d: d["components"][0]["kernel"].pop("kind"),
    "a kernel of another kind": lambda d: d["components"][0].update(kernel=3),
    "an array of what is no number": partial(scaled, name="mean", factor=float("nan")),
    "a scale of zero": lambda d: d["features"].update(scale=[0.0, 1.0]),
    "a scale is missing": lambda d: d["features"].update(scale=[1.0]),
    "a negative weight": lambda d: (
        d["components"].extend([d["components"][0] | {"weight": -1.0}] * 2)
        or d["components"][0].update(weight=3.0)
    ),
    "a variance that overflows": lambda d: d["components"][0].update(
        kernel={"kind": "Scaled", "variance": 1e308, "kernel": d["components"][0]["kernel"]}
    ),
    "a number beyond all numbers": lambda d: d["components"][0].update(noise=10**400),
    "a log evidence that is a text": lambda d: d["components"][0].update(log_evidence="a lot"),
    "names that are numbers": lambda d: d["features"].update(names=[1, 2]),
    "diagnostics of another kind": lambda d: d.update(diagnostics=[]),
    "a structure that there is not": lambda d: d.update(structures={"magic": 1.0}),
    "components are empty": lambda d: d.update(components=[], structures={"linear": 1.0}),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_inside_a_file_is_noticed(rewards: dict[str, Reward], damage: Any, tmp_path: Path) -> None:
    path = changed(rewards["sum"], tmp_path / "reward.json", damage)
    with pytest.raises(RewardFileError, match=r"reward.json is damaged"):
        load_reward(path)


PACKED_DAMAGE: dict[str, Callable[[str], Any]] = {
    "no text": lambda _: 3,
    "no base 64": lambda text: text[:-3] + "%%%",
    "a cut text": lambda text: text[: 4 * (len(text) // 8)],
    "no compression": lambda _: base64.b64encode(b"{}").decode(),
    "no object": lambda _: base64.b64encode(zlib.compress(b"[]")).decode(),
    "an array that is not there": lambda text: repacked(text, points={"array": 99}),
    "kernels without end": lambda text: repacked(text, components=[{"weight": 1.0, "kernel": nested(900)}]),
    "an array of half a number": lambda text: repacked(
        text, arrays=[{"shape": [1], "type": "float32", "hex": "00ff"}]
    ),
    "an array of another type": lambda text: repacked(
        text, arrays=[{"shape": [1], "type": "object", "hex": "00"}]
    ),
}


def repacked(text: str, **changes: Any) -> str:
    document = json.loads(zlib.decompress(base64.b64decode(text))) | changes
    return base64.b64encode(zlib.compress(json.dumps(document).encode())).decode()


@pytest.mark.parametrize("damage", PACKED_DAMAGE.values(), ids=PACKED_DAMAGE.keys())
def test_damage_of_what_is_packed_is_noticed(rewards: dict[str, Reward], damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "reward.json"
    document = json.loads(rewards["sum"].to_json())
    path.write_text(json.dumps(document | {"posterior": damage(document["posterior"])}), encoding="utf-8")
    with pytest.raises(RewardFileError, match=r"reward.json is damaged"):
        load_reward(path)


def test_what_unpacks_to_very_much_is_refused(
    rewards: dict[str, Reward], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards["sum"].save(tmp_path / "reward.json")
    monkeypatch.setattr(packing, "MOST_BYTES", 100)
    with pytest.raises(RewardFileError, match="longer than 100 bytes"):
        load_reward(tmp_path / "reward.json")


def test_the_bar_in_a_file_has_a_place_and_no_features(rewards: dict[str, Reward], tmp_path: Path) -> None:
    rewards["labels"].save(tmp_path / "reward.json")
    posterior = posterior_in(tmp_path / "reward.json")
    assert np.isfinite(posterior["points"]).all()
    assert any(-1 in part["points"] + part["others"] for part in posterior["components"])
    loaded, x = load_reward(tmp_path / "reward.json"), new(8)
    np.testing.assert_allclose(
        loaded.probability_acceptable(x), rewards["labels"].probability_acceptable(x), atol=MOST
    )
    bar, read = rewards["labels"].bar(pool()), loaded.bar(pool())
    assert (read.mean, read.low, read.high) == pytest.approx((bar.mean, bar.low, bar.high), abs=5 * MOST)
    assert [part.probit for _, part in loaded.belief.components] == [
        part.probit for _, part in rewards["labels"].belief.components
    ]


def test_an_unknown_structure_is_named_with_those_that_there_are(
    rewards: dict[str, Reward], tmp_path: Path
) -> None:
    path = changed(rewards["belief"], tmp_path / "reward.json", lambda d: d.update(structures={"magic": 1.0}))
    with pytest.raises(RewardFileError, match=r"no structure 'magic': .*linear, "):
        load_reward(path)


def test_a_kernel_that_is_not_installed_is_named(rewards: dict[str, Reward], tmp_path: Path) -> None:
    def unknown(document: dict[str, Any]) -> None:
        document["components"][0]["kernel"]["kind"] = "Magic"

    path = changed(rewards["sum"], tmp_path / "reward.json", unknown)
    message = r"of another package: there is no kernel 'Magic'.*Install"
    with pytest.raises(RewardFileError, match=message):
        load_reward(path)


def test_a_crash_while_saving_leaves_the_old_file(
    rewards: dict[str, Reward], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards["sum"].save(tmp_path / "reward.json")
    before = (tmp_path / "reward.json").read_bytes()

    def crash(*_: Any) -> None:
        raise OSError("the disk is on fire")

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="on fire"):
        rewards["linear"].save(tmp_path / "reward.json")
    assert (tmp_path / "reward.json").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["reward.json"]


def test_what_cannot_be_written_leaves_the_old_file(rewards: dict[str, Reward], tmp_path: Path) -> None:
    rewards["sum"].save(tmp_path / "reward.json")
    before = (tmp_path / "reward.json").read_bytes()
    bad = Reward(rewards["sum"].belief, {"answers": float("nan")})
    with pytest.raises(ValueError, match="JSON compliant"):
        bad.save(tmp_path / "reward.json")
    assert (tmp_path / "reward.json").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_is_as_readable_as_any_other(rewards: dict[str, Reward], tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("", encoding="utf-8")
    rewards["sum"].save(tmp_path / "reward.json")
    plain, saved = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "reward.json"))
    assert saved == plain


LOADING = """
import sys
from importlib.metadata import packages_distributions

present = {"numpy", "scipy", "threadpoolctl", "prefero"}
absent = {name for name, kinds in packages_distributions().items() if not present.intersection(kinds)}
sys.modules.update(dict.fromkeys(absent))  # importing them fails from here on
import prefero

print(prefero.load_reward(sys.argv[1])([[5.0, 0.0], [6.0, 0.1]]).tolist())
print(len(absent), "typer" in absent)
"""


def test_a_machine_with_only_numpy_and_scipy_can_load_it(rewards: dict[str, Reward], tmp_path: Path) -> None:
    rewards["belief"].save(tmp_path / "reward.json")
    command = [sys.executable, "-c", LOADING, str(tmp_path / "reward.json")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    values, hidden = done.stdout.splitlines()
    np.testing.assert_allclose(json.loads(values), rewards["belief"]([[5.0, 0.0], [6.0, 0.1]]), atol=1e-3)
    assert hidden.endswith("True")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[" * 100_000])
def test_json_that_is_no_json_is_refused(text: str, rewards: dict[str, Reward], tmp_path: Path) -> None:
    content = rewards["sum"].to_json().replace('"diagnostics": {', f'"diagnostics": {{"x": {text},', 1)
    (tmp_path / "reward.json").write_text(content, encoding="utf-8")
    with pytest.raises(RewardFileError, match="damaged or no reward file"):
        load_reward(tmp_path / "reward.json")


def test_weights_that_overflow_are_refused(rewards: dict[str, Reward], tmp_path: Path) -> None:
    linear = next(reward for reward in rewards.values() if "weights" in json.loads(reward.to_json()))
    for weight in (1e308, 1e400):
        replaced = partial(dict.update, weights=[[weight, -weight]] * 3)
        path = changed(linear, tmp_path / "reward.json", replaced)
        with pytest.raises(RewardFileError, match="is damaged"):
            load_reward(path)
