"""Episodes of Gymnasium environments: played once and recorded, and shown as they were played."""

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from datasets.slide_environment import Slide
from datasets.write_datasets import colors_in
from prefero import Pool
from prefero.datasets import BadEpisode, FeatureOptions, GymnasiumOptions, extract_features, open_dataset
from prefero.datasets.formats.gymnasium import GymnasiumDataset
from prefero.datasets.media.clips import cut_planned_clip
from prefero.rendering.environments import reason_without_images


class Bright(gymnasium.Env[Any, Any]):
    """It gets brighter by the action and ends when it is bright; `loose` ones forget their seed."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012
    observation_space = spaces.Dict(light=spaces.Box(0, 999, (1,)), count=spaces.Discrete(99))
    action_space = spaces.Box(1, 30, (1,))

    def __init__(self, render_mode: str | None = None, loose: bool = False) -> None:
        self.render_mode, self.loose = render_mode, loose

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
        super().reset(seed=None if self.loose else seed)
        self.light, self.count = float(self.np_random.uniform(20, 60)), 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.light, self.count = self.light + float(action[0]), self.count + 1
        return self._seen(), 1.0, self.light > 180, False, {}

    def _seen(self) -> Any:
        return {"light": np.array([self.light]), "count": self.count}

    def render(self) -> Any:
        return np.full((48, 64, 3), int(self.light), dtype=np.uint8)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test records its own episodes."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PREFERO_CACHE", str(folder))
    return folder


def loose(render_mode: str | None = None) -> Bright:
    return Bright(render_mode, loose=True)


def noisy(_: Any) -> Any:
    return np.random.default_rng().uniform(1.0, 30.0, 1)


def steady(_: Any) -> Any:
    return np.array([20.0])


def lights(dataset: GymnasiumDataset, number: int) -> np.ndarray:
    episode = dataset.episode(number)
    return episode.states[:, episode.state_names.index("light")]


def test_an_episode_is_the_same_whenever_it_is_read_and_others_are_others() -> None:
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=40))
    np.testing.assert_array_equal(lights(dataset, 1), lights(dataset, 1))
    np.testing.assert_array_equal(
        lights(dataset, 1), lights(GymnasiumDataset(Bright, GymnasiumOptions(episodes=9, max_steps=40)), 1)
    )
    assert lights(dataset, 0)[0] != lights(dataset, 1)[0]
    assert (
        lights(dataset, 1)[0]
        != lights(GymnasiumDataset(Bright, GymnasiumOptions(max_steps=40, seed=5)), 1)[0]
    )


def test_an_episode_has_a_state_more_than_actions_and_ends_where_the_environment_ends_it() -> None:
    episode = GymnasiumDataset(Bright, GymnasiumOptions(max_steps=99)).episode(0)
    assert len(episode.states) == len(episode.actions) + 1
    assert episode.state_names == ("light", "count")
    light = episode.states[:, 0]
    np.testing.assert_allclose(np.diff(light), episode.actions[:, 0], rtol=1e-5)
    assert light[-1] > 180 >= light[-2]
    assert len(GymnasiumDataset(Bright, GymnasiumOptions(max_steps=3)).episode(0)) == 3


def test_a_policy_is_a_function_or_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    Path("policy_of_this_test.py").write_text(
        "import numpy as np\ndef steady(seen): return np.array([20.0])\n", encoding="utf-8"
    )
    given = GymnasiumDataset(Bright, GymnasiumOptions(max_steps=99), policy=steady)
    named = GymnasiumDataset(Bright, GymnasiumOptions(max_steps=99, policy="policy_of_this_test:steady"))
    for dataset in (given, named):
        actions = dataset.episode(2).actions
        assert set(actions.ravel().tolist()) == {20.0}


def test_a_clip_shows_what_the_features_were_extracted_of(tmp_path: Path) -> None:
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(episodes=2, max_steps=99))
    for number in range(2):
        wanted = np.floor(lights(dataset, number)[:-1, None])
        np.testing.assert_allclose(colors_in(dataset.cut_clip(number, tmp_path)), np.tile(wanted, 3), atol=4)
    part = colors_in(dataset.cut_clip(1, tmp_path, (2, 5)))
    np.testing.assert_allclose(part, np.tile(np.floor(lights(dataset, 1)[2:5, None]), 3), atol=4)


@pytest.mark.parametrize(
    ("environment", "policy", "record_video", "videos"),
    [(Bright, None, False, 0), (Bright, noisy, False, 0), (Bright, noisy, True, 3), (loose, noisy, False, 3)],
)
def test_a_clip_shows_a_noisy_episode_as_it_was_played(
    environment: Any, policy: Any, record_video: bool, videos: int, tmp_path: Path, cache: Path
) -> None:
    """Actions can be played again where the seed determines the rest; otherwise a video is recorded."""
    options = GymnasiumOptions(episodes=3, max_steps=99, record_video=record_video)
    dataset = GymnasiumDataset(environment, options, policy=policy)
    pool = Pool.from_dataset(
        dataset, FeatureOptions(["final(light)"], jobs=1), clip_folder=tmp_path / "clips"
    )
    assert len(list((cache / "clips").rglob("*.mp4"))) == videos
    assert pool.clips is not None
    for number, clip in enumerate(pool.clips):
        wanted = lights(dataset, number)
        assert pool.features[number, 0] == wanted[-1]
        np.testing.assert_allclose(colors_in(Path(clip)), np.tile(np.floor(wanted[:-1, None]), 3), atol=4)
    part = colors_in(dataset.cut_clip(1, tmp_path / "clips", (2, 4)))
    np.testing.assert_allclose(part, np.tile(np.floor(lights(dataset, 1)[2:4, None]), 3), atol=4)


def test_the_first_episodes_and_every_tenth_are_played_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(episodes=21, max_steps=2))
    assert dataset.has_video
    seeds: list[int] = []
    reset = Bright.reset

    def noting(self: Bright, *, seed: int, options: Any = None) -> Any:
        seeds.append(seed)
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(Bright, "reset", noting)
    for number in (0, 9, 10, 11, 19, 20):
        dataset.episode(number)
    assert seeds == [0, 0, 9, 9, 10, 10, 11, 19, 20, 20]


def test_actions_in_dictionaries_and_tuples_are_played_again(tmp_path: Path) -> None:
    class Wrapped(Bright):
        action_space = spaces.Dict(by=spaces.Tuple([spaces.Box(1, 30, (1,)), spaces.Discrete(3)]))  # type: ignore[assignment]

        def step(self, action: Any) -> Any:
            return super().step(action["by"][0] + action["by"][1])

    dataset = GymnasiumDataset(Wrapped, GymnasiumOptions(episodes=2, max_steps=99))
    wanted = np.floor(lights(dataset, 1)[:-1, None])
    assert not dataset.records_video
    np.testing.assert_allclose(colors_in(dataset.cut_clip(1, tmp_path)), np.tile(wanted, 3), atol=4)


def test_a_replay_that_differs_from_the_recording_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(episodes=1, max_steps=9))
    dataset.episode(0)
    step = Bright.step
    monkeypatch.setattr(Bright, "step", lambda self, action: step(self, action + 1))  # another version of it
    with pytest.raises(BadEpisode, match=r"^episode 0: .*differs .* at step 1, .* --record-video"):
        dataset.cut_clip(0, tmp_path)


def test_what_was_never_recorded_is_rendered_only_if_it_can_be_repeated(tmp_path: Path) -> None:
    options = GymnasiumOptions(episodes=1, max_steps=9)
    assert GymnasiumDataset(Bright, options).cut_clip(0, tmp_path).is_file()
    for environment, policy in ((loose, None), (Bright, noisy)):
        with pytest.raises(BadEpisode, match=r"^episode 0: .*no recording"):
            GymnasiumDataset(environment, options, policy=policy).cut_clip(0, tmp_path / "other")


def test_an_id_is_recognised_and_says_when_an_episode_ends() -> None:
    dataset = open_dataset("CartPole-v1", GymnasiumOptions(episodes=6, videos="ignore"))
    assert isinstance(dataset, GymnasiumDataset)
    assert dataset.renders
    found = extract_features(dataset, FeatureOptions(["max", "duration"], jobs=1))
    assert len(found) == 6
    assert found.names[-1] == "duration"
    assert set(np.round(found.features[:, -1] * 50) % 1) == {0.0}  # 50 steps a second


def test_a_module_in_the_working_folder_may_register_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    code = "from datasets.slide_environment import Slide\ngymnasium.register('Here-v0', Slide)\n"
    Path("environment_of_this_test.py").write_text(f"import gymnasium\n{code}", encoding="utf-8")
    dataset = open_dataset("gymnasium:environment_of_this_test:Here-v0", GymnasiumOptions(max_steps=5))
    assert isinstance(dataset, GymnasiumDataset)
    assert len(dataset.episode(0)) == 5
    gymnasium.registry.pop("Here-v0")


@pytest.mark.parametrize(
    ("environment", "options", "message"),
    [
        (Bright, {"max_steps": 0}, "1 or more episodes"),
        (Bright, {"max_steps": 9, "episodes": 0}, "1 or more episodes"),
        ("Nowhere-v7", {}, "'Nowhere-v7' cannot be made"),
    ],
)
def test_what_cannot_be_played_is_said(environment: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GymnasiumDataset(environment, GymnasiumOptions(**options))


def test_an_environment_that_does_not_end_says_so() -> None:
    with pytest.raises(ValueError, match=r"Slide .*10,000 steps.* --max-steps"):
        GymnasiumDataset(Slide).episode(0)


def test_an_environment_that_does_not_render_says_so(tmp_path: Path) -> None:
    class Dark(Bright):
        metadata = {"render_modes": []}  # noqa: RUF012

    dataset = GymnasiumDataset(Dark, GymnasiumOptions(max_steps=9))
    assert not dataset.has_video
    with pytest.raises(ValueError, match=r"does not render .*rgb_array"):
        dataset.cut_clip(0, tmp_path)


# --- what tells them apart --------------------------------------------------------------------------------


def restless(_: Any) -> Any:
    return np.array([25.0])


def test_what_decides_how_it_is_played_decides_the_version() -> None:
    made = [
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=9)),
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=9, seed=7)),
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=8)),
        GymnasiumDataset(Slide, GymnasiumOptions(episodes=3, max_steps=9)),
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=9), policy=steady),
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=9), policy=restless),
        GymnasiumDataset("CartPole-v1", GymnasiumOptions(episodes=3, max_steps=9), policy=steady),
        GymnasiumDataset("CartPole-v1", GymnasiumOptions(episodes=3, max_steps=9, seed=7), policy=steady),
    ]
    assert len({dataset.version for dataset in made}) == len(made)
    assert (
        GymnasiumDataset(Bright, GymnasiumOptions(episodes=3, max_steps=9), policy=steady).version
        == made[4].version
    )


def test_policies_that_no_file_tells_apart_never_match_and_keep_their_version() -> None:
    def always(light: float) -> Any:
        return lambda _: np.array([light])

    one, other = (
        GymnasiumDataset(Bright, GymnasiumOptions(max_steps=9), policy=always(light)) for light in (5.0, 9.0)
    )
    assert one.version != other.version
    assert one.version == one.version


def test_a_policy_that_was_rewritten_is_another_and_does_not_play_in_old_clips(tmp_path: Path) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text("def left(seen): return 0\n", encoding="utf-8")
    before = GymnasiumDataset("CartPole-v1", GymnasiumOptions(episodes=2, policy=f"{policy}:left"))
    before.has_video = True
    found = Pool.from_dataset(
        before, FeatureOptions(["final"], jobs=1), clip_folder=tmp_path / "clips", clips="later"
    )
    policy.write_text("def left(seen): return 1\n", encoding="utf-8")
    after = GymnasiumDataset("CartPole-v1", GymnasiumOptions(episodes=2, policy=f"{policy}:left"))
    assert before.version != after.version
    assert found.clips is not None
    with pytest.raises(ValueError, match=r"dataset of the clip .* has changed"):
        cut_planned_clip(found.clips[0])


# --- code of the user's own that fails --------------------------------------------------------------------


def boom(_: Any) -> Any:
    raise KeyError("speed")


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (boom, r"policy boom fails: KeyError\('speed'\)"),
        (lambda _: "left", r"Bright fails .*'left': ValueError"),
        (lambda _: None, r"Bright fails .*None: TypeError"),
        (lambda seen: np.ones(1 + seen["count"] % 2), "observations or actions changes"),
    ],
)
def test_a_policy_that_fails_is_named_with_the_episode(policy: Any, why: str) -> None:
    with pytest.raises(BadEpisode, match=rf"^episode 0: .*{why}"):
        extract_features(
            GymnasiumDataset(Bright, GymnasiumOptions(episodes=2, max_steps=9), policy=policy),
            FeatureOptions(["final"], jobs=1),
        )


def test_an_environment_of_the_users_own_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"'boom' cannot be made: TypeError"):
        GymnasiumDataset(boom)
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(max_steps=9))
    monkeypatch.setattr(Bright, "_seen", lambda _: 1 / 0)
    with pytest.raises(BadEpisode, match=r"^episode 1: Bright fails .*ZeroDivisionError"):
        dataset.episode(1)


# --- what cannot be rendered ------------------------------------------------------------------------------


def test_a_missing_renderer_is_named_before_anything_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    assert GymnasiumDataset(Bright, GymnasiumOptions(max_steps=9)).has_video

    def unpainted(_: Any) -> Any:
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed, run `pip install pygame`.")

    played: list[Any] = []
    step = Bright.step

    def counted(self: Bright, action: Any) -> Any:
        played.append(action)
        return step(self, action)

    monkeypatch.setattr(Bright, "render", unpainted)
    monkeypatch.setattr(Bright, "step", counted)
    dataset = GymnasiumDataset(Bright, GymnasiumOptions(episodes=4, max_steps=9))
    why = r"^Bright cannot be rendered: pygame is not installed, run `.*pip install pygame`\. Until then"
    with pytest.raises(UserWarning, match=why):  # warnings are errors in tests, so it stops here
        extract_features(dataset, FeatureOptions(["final"], jobs=1))
    assert played == []
    with pytest.warns(UserWarning, match=why):
        assert Pool.from_dataset(dataset, FeatureOptions(["mean(light)"], jobs=1)).clips is None
    assert played
    assert not dataset.has_video


def test_the_line_that_installs_a_missing_package_is_added_where_the_error_lacks_it() -> None:
    missing = ModuleNotFoundError("No module named 'ale_py.roms'", name="ale_py.roms")
    told = reason_without_images(missing)
    assert re.fullmatch(r"No module named 'ale_py\.roms'; run `.*pip install ale_py`", told)
    assert reason_without_images(ValueError("no screen.")) == "no screen"


def test_videos_that_become_possible_later_show_what_was_played_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, features = GymnasiumOptions(episodes=3, max_steps=9), FeatureOptions(["final(light)"], jobs=1)
    with monkeypatch.context() as without:
        without.setattr(Bright, "render", lambda _: None)
        with pytest.warns(UserWarning, match="cannot be rendered"):
            before = Pool.from_dataset(GymnasiumDataset(Bright, options, policy=noisy), features)
    after = Pool.from_dataset(
        GymnasiumDataset(Bright, options, policy=noisy), features, clip_folder=tmp_path / "clips"
    )
    assert before.clips is None
    assert after.clips is not None
    np.testing.assert_array_equal(before.features, after.features)


def test_an_image_that_is_none_is_no_video(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bright, "render", lambda _: None)
    with pytest.warns(UserWarning, match=r"Bright cannot be rendered: .*no image"):
        assert not GymnasiumDataset(Bright, GymnasiumOptions(max_steps=9)).has_video
