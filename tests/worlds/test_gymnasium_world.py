"""Worlds made of a Gymnasium environment and a feature function, taught in like any other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium import spaces

from prefero import Learner, Pool, PreferenceGP, worlds
from prefero._support.arrays import Array
from prefero.kernels import Anchored, Linear, Quadratic
from prefero.simulation.users import SimulatedUser
from prefero.worlds import RendersVideo, World, from_gymnasium, make, names, register
from prefero.worlds.clips import HOLD, render_video
from prefero.worlds.gymnasium_world import GymnasiumWorld

Values = npt.NDArray[np.float64]
SIZE = 24


class Walk(gymnasium.Env[Values, Values]):
    """A point that is pushed about the plane; it renders itself as a white dot on black."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012

    def __init__(self, render_mode: str | None = None, edge: float = np.inf, high: Any = (1.0, 2.0)) -> None:
        self.render_mode, self.edge, self.closed = render_mode, edge, False
        bound = np.array(high, dtype=float)
        self.action_space = spaces.Box(-bound, bound, dtype=np.float64)
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Values, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.position: Values = self.np_random.uniform(-0.1, 0.1, 2)
        return self.position.copy(), {}

    def step(self, action: Values) -> tuple[Values, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        self.position = self.position + 0.05 * action
        return self.position.copy(), 0.0, bool(np.abs(self.position).max() > self.edge), False, {}

    def render(self) -> Any:
        image = np.zeros((SIZE, SIZE, 3), dtype=np.uint8)
        column, row = np.clip(SIZE / 2 + 4 * self.position, 0, SIZE - 1).astype(int)
        image[row, column] = 255
        return image

    def close(self) -> None:
        self.closed = True


class TextWalk(Walk):
    """The same with words for actions."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space: Any = spaces.Text(3)


def ends(observations: Array, actions: Array) -> Array:
    """Where it ends, and how hard it was pushed."""
    return np.array([*observations[-1], np.abs(actions).mean()])


ENDS = ("x", "y", "effort")


def walk(**options: Any) -> World:
    return from_gymnasium(Walk, ends, ENDS, **{"max_steps": 12, "segments": 3, **options})


@pytest.fixture
def registered() -> Iterator[None]:
    """Forget what a test registers."""
    yield
    worlds.REGISTRY.unregister("walk")


# --- episodes ---------------------------------------------------------------------------------------------


def test_an_action_sequence_is_played_segment_by_segment() -> None:
    world = walk()
    plan = world.action_space.sample(1, np.random.default_rng(0))[0]
    env = Walk()
    position, _ = env.reset(seed=0)
    for step in range(12):
        position, *_ = env.step(plan.reshape(3, 2)[step // 4])
    np.testing.assert_allclose(world.rollout(plan).features, [*position, np.abs(plan).mean()], rtol=1e-12)


@pytest.mark.parametrize(("steps", "segments"), [(7, 3), (5, 5), (10, 1), (100, 7)])
def test_every_step_has_its_segment_and_segments_are_about_equal(steps: int, segments: int) -> None:
    world = walk(max_steps=steps, segments=segments)
    assert isinstance(world, GymnasiumWorld)
    numbers = np.repeat(np.arange(segments) / segments, 2)
    used = np.round(world.controls(numbers)[:, 0] * segments).astype(int)
    counts = np.bincount(used, minlength=segments)
    assert len(used) == steps
    assert np.all(np.diff(used) >= 0)
    assert counts.max() - counts.min() <= 1


def test_the_actions_are_the_spaces_once_a_segment() -> None:
    actions = walk().action_space
    assert len(actions) == 6
    assert actions.names[:3] == ("action 1 of segment 1", "action 2 of segment 1", "action 1 of segment 2")
    np.testing.assert_array_equal(actions.high, [1.0, 2.0] * 3)
    np.testing.assert_array_equal(actions.low, -actions.high)


def test_the_feature_function_gets_all_observations_and_all_actions() -> None:
    seen: list[tuple[Array, Array]] = []

    def features(observations: Array, actions: Array) -> list[float]:
        seen.append((observations, actions))
        return [0.0]

    from_gymnasium(Walk, features, ["nothing"], max_steps=12, segments=3).rollout([0.5, -1.5] * 3)
    observations, actions = seen[0]
    assert observations.shape == (13, 2)
    np.testing.assert_array_equal(actions, np.tile([0.5, -1.5], (12, 1)))
    np.testing.assert_allclose(np.diff(observations, axis=0), 0.05 * actions)


def test_an_episode_that_ends_early_counts_up_to_where_it_ended() -> None:
    lengths: list[tuple[int, int]] = []

    def features(observations: Array, actions: Array) -> list[float]:
        lengths.append((len(observations), len(actions)))
        return [float(observations[-1, 0])]

    world = from_gymnasium(lambda: Walk(edge=0.21), features, ["x"], max_steps=50, segments=1)
    reached = world.rollout([1.0, 0.0]).features[0]
    (observations, actions) = lengths[0]
    assert observations == actions + 1 < 8
    assert 0.21 < reached < 0.27


def test_the_seed_decides_the_start() -> None:
    still = np.zeros(6)
    first, again, other = (walk(seed=seed).rollout(still).features for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_an_environment_is_known_by_its_id_too() -> None:
    world = from_gymnasium("Pendulum-v1", lambda o, _: [o[:, 0].mean()], ["height"], max_steps=15, segments=3)
    assert world.name == "Pendulum-v1"
    assert world.time_step == pytest.approx(1 / 30)
    assert world.rollout([0.5, -0.5, 1.0]).features.shape == (1,)


def test_the_time_step_is_that_of_the_environments_frames() -> None:
    assert (walk().time_step, walk().horizon) == (0.05, 12)
    assert walk().duration == pytest.approx(0.6)


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("returned", [[1.0], [1.0, 2.0, 3.0, 4.0], 1.0, [[1.0, 2.0, 3.0]]])
def test_another_number_of_features_is_refused(returned: Any) -> None:
    world = from_gymnasium(Walk, lambda *_: returned, ENDS, max_steps=4, segments=2)
    with pytest.raises(ValueError, match=r"3 feature names, .*returned shape"):
        world.rollout(np.zeros(4))


def test_features_that_are_not_finite_are_refused_when_a_pool_is_made() -> None:
    world = from_gymnasium(Walk, lambda *_: [np.nan, 1.0], ["a", "b"], max_steps=4, segments=2)
    with pytest.raises(ValueError, match="row 0 has nan in column 'a'"):
        Pool.simulate(world, 4)


@pytest.mark.parametrize(
    ("environment", "shown"), [(lambda: Walk(high=(1.0, np.inf)), "inf"), (TextWalk, r"Text\(")]
)
def test_actions_without_bounds_are_refused(environment: Any, shown: str) -> None:
    with pytest.raises(
        ValueError,
        match=rf"Discrete, MultiDiscrete or a bounded Box, .*{shown}",
    ):
        from_gymnasium(environment, ends, ENDS)


def test_the_wrapper_that_the_error_names_helps() -> None:
    def bounded() -> Any:
        tight = spaces.Box(-1.0, 1.0, (2,), dtype=np.float64)
        return gymnasium.wrappers.TransformAction(Walk(high=(1.0, np.inf)), lambda action: action, tight)

    assert len(from_gymnasium(bounded, ends, ENDS, segments=2).action_space) == 4


@pytest.mark.parametrize("segments", [0, 13, -1])
def test_an_episode_has_one_segment_or_more_and_no_more_than_steps(segments: int) -> None:
    with pytest.raises(ValueError, match=f"1 to 12 segments, .*{segments}"):
        walk(segments=segments)


# --- videos -----------------------------------------------------------------------------------------------


def test_its_environment_renders_its_video() -> None:
    world = walk()
    plan = [1.0, 0.0] * 3
    frames = list(render_video(world, world.rollout(plan)))
    assert isinstance(world, RendersVideo)
    assert len(frames) == 13 + round(HOLD / world.time_step)  # the last one is held
    assert {(frame.shape, str(frame.dtype)) for frame in frames} == {((SIZE, SIZE, 3), "uint8")}
    columns = [int(np.argwhere(frame)[0, 1]) for frame in frames]
    assert columns == sorted(columns)
    assert columns[-1] > columns[0]  # it goes to the right


def test_the_environment_that_rendered_is_closed() -> None:
    made: list[Walk] = []

    def recorded(**options: Any) -> Walk:
        made.append(Walk(**options))
        return made[-1]

    world = from_gymnasium(recorded, ends, ENDS, max_steps=4, segments=2)
    frames = iter(render_video(world, world.rollout(np.zeros(4))))
    next(frames)
    assert not made[-1].closed
    frames.close()  # type: ignore[attr-defined]
    assert [env.closed for env in made] == [False, True]
    assert made[-1].render_mode == "rgb_array"


def test_it_has_an_empty_scene_and_still_a_replay() -> None:
    world = walk()
    scene = world.scene
    assert scene.parts == ()
    json.dumps(scene.replay(world.rollout(np.zeros(6)).poses), allow_nan=False)


# --- pools and teaching -----------------------------------------------------------------------------------


def test_it_is_not_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path))
    Pool.simulate(walk(), 4)
    assert list(tmp_path.iterdir()) == []


def test_a_pool_of_it_survives_a_file(tmp_path: Path) -> None:
    pool = Pool.simulate(walk(), 5)
    pool.save(tmp_path / "walk.npz")
    again = Pool.load(tmp_path / "walk.npz")
    np.testing.assert_array_equal(again.features, pool.features)
    assert again.source == pool.source
    assert again.names == ENDS


def with_options(max_steps: int = 12, segments: int = 3, seed: int = 0) -> World:
    return from_gymnasium(Walk, ends, ENDS, max_steps=max_steps, segments=segments, seed=seed, name="walk")


@pytest.mark.usefixtures("registered")
def test_a_registered_world_is_simulated_by_name() -> None:
    register("walk", with_options)
    assert "walk" in names()
    pool = Pool.simulate("walk", 6, seed=3)
    np.testing.assert_array_equal(pool.features, Pool.simulate(make("walk"), 6, seed=3).features)
    assert pool.source is not None
    assert pool.source.world == "walk"


@pytest.mark.usefixtures("registered")
def test_a_pool_finds_its_registered_world_again() -> None:
    register("walk", with_options)
    pool = Pool.simulate(make("walk", segments=4), 6)
    assert pool.world().options == make("walk", segments=4).options
    np.testing.assert_array_equal(pool.world().rollout(pool.trajectory(2).actions).features, pool.features[2])


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["walk", None])
def test_a_pool_finds_its_world_again_also_where_the_factory_takes_no_options(name: str | None) -> None:
    world = walk(max_steps=9, name=name)
    register("walk", lambda: world)
    assert Pool.simulate("walk", 6).world().horizon == 9


def test_it_can_be_taught_in() -> None:
    """Somebody wants it to end far to the right, whatever the effort."""
    pool = Pool.simulate(walk(), 60)
    person, rng = SimulatedUser(lambda x: x[:, 0]), np.random.default_rng(0)
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * 3)
    learner = Learner(pool, model=PreferenceGP(kernel=kernel, noise=0.1, learn=False))
    for _ in range(12):
        question = learner.ask()
        left, right = pool.scaled[question.left], pool.scaled[question.right]
        learner.tell(question, person.answer(left, right, rng))
    best = learner.reward().best(pool).index
    assert np.mean(pool.features[:, 0] <= pool.features[best, 0]) > 0.95
