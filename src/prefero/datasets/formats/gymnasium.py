"""Episodes of a Gymnasium environment, played by a policy or at random, and shown as videos.

    environment   an id, or a function that makes the environment and takes render_mode
    policy        a function of an observation that returns an action, or its module:function; None: random
    seed          episode n is reset with the seed + n, and its random actions are drawn with both

An episode is played once and recorded, so a policy may be noisy. Its video is rendered when it is first
shown: the recorded actions are played again, and compared with the recorded states. An environment whose
seed does not determine what it does cannot be played again. The first episodes, and then every tenth, are
played twice to see that. Videos of those that differ, and of all after them, are recorded while they are
played.
"""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero._support.files import cache_folder
from prefero._support.optional import need
from prefero.datasets.base import DatasetFormat, EpisodeDataset, file_name
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.features.library.user_functions import (
    function_digest,
    function_name,
    import_function,
    source_files,
)
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.formats.environment_player import (
    EnvironmentMaker,
    EnvironmentPlayer,
    Policy,
    Transition,
)
from prefero.datasets.formats.environment_wrappers import changing_wrappers
from prefero.datasets.formats.observations import at_step, side_by_side, stack, structured
from prefero.datasets.formats.recordings import Recording, Recordings
from prefero.datasets.media.video_files import read_frames
from prefero.datasets.outcomes import Reduction
from prefero.rendering.environments import (
    RENDER_MODE,
    drawn_by_mujoco,
    first_image,
    make_renderable,
    reason_without_images,
)
from prefero.rendering.video import save_video

FIRST, EVERY = 10, 10  # episodes that are played twice: to play all of them so takes twice the time
DEFAULT_RATE = 30.0  # steps a second, where the environment does not say


@dataclass(frozen=True, kw_only=True)
class GymnasiumOptions(FormatOptions):
    """How an environment is played.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        episodes: How many.
        policy: A function of an observation, or its `module:function`; None plays at random.
        max_steps: The largest number of steps of an episode; None leaves it to the environment.
        seed: Of the environment, and of random actions.
        record_video: Record a video of every episode while it is played.
    """

    episodes: int = option(100, "How many episodes are played; by default 100.", minimum=1)
    policy: str | None = option(
        None, "The policy that plays: module:function of an observation; random actions without one."
    )
    max_steps: int | None = option(None, "The largest number of steps of an episode.", minimum=1)
    seed: int = option(0, "The seed of the environment and of random actions; by default 0.", minimum=0)
    record_video: bool = option(
        False, "Record videos of all episodes while they are played, not only of those that do not repeat."
    )


class GymnasiumDataset(EpisodeDataset, DatasetFormat):
    """Episodes that are played when they are first read, and recorded.

    `policy` is a function itself, in place of the one that the options name. `records_video`
    says whether videos are recorded while episodes are played.
    """

    format_name = "gymnasium"
    description = "the id of a Gymnasium environment"
    options_type = GymnasiumOptions
    batch_size, reading = 25, "playing"
    clip_preset = "ultrafast"  # drawn images have few details, so that their files stay small
    send_whole = True  # an environment that this process has registered is unknown to others

    def __init__(
        self,
        environment: str | Callable[..., Any],
        options: GymnasiumOptions | None = None,
        *,
        policy: Policy | None = None,
    ) -> None:
        self.environment, self.options = environment, options or GymnasiumOptions()
        self._check_options()
        named = self.options.policy
        self.policy = policy if policy is not None or named is None else import_function(named)
        self.name = environment if isinstance(environment, str) else function_name(environment, "own")
        self.ids = tuple(map(str, range(self.options.episodes)))
        self.player = EnvironmentPlayer(self.name, self.policy, self.options.seed, self.options.max_steps)
        self.make = EnvironmentMaker.of(environment, self.name)
        made = self.make()
        self.step_seconds = 1.0 / float(made.metadata.get("render_fps") or DEFAULT_RATE)
        self.renders = RENDER_MODE in made.metadata.get("render_modes", [])
        self.needs_gl = drawn_by_mujoco(made)
        self.wrappers = changing_wrappers(made)
        made.close()
        if isinstance(environment, str) and policy is None:
            self.spec = DatasetSpec.of("gymnasium", environment, self.options)
        self._determined_by = self._digests(policy)
        self.records_video = self.options.record_video
        self.recordings = Recordings(cache_folder() / "clips" / self._recording_name())

    def _check_options(self) -> None:
        episodes, steps, seed = self.options.episodes, self.options.max_steps, self.options.seed
        if episodes < 1 or seed < 0 or (steps is not None and steps < 1):
            raise ValueError(
                f"an environment is played for 1 or more episodes and steps with a seed of 0 or more, but "
                f"these are {episodes}, {steps} and {seed}"
            )

    def _digests(self, policy: Policy | None) -> list[Any]:
        """What determines an episode, apart from chance: the environment, the user's code, and options."""
        named = self.environment if isinstance(self.environment, str) else function_digest(self.environment)
        player = policy if policy is not None else self.options.policy
        code = [] if player is None else [function_digest(player)]
        made = getattr(self.make.registered, "entry_point", None)
        if made is not None and function_digest(made) == function_digest(made):  # a lambda has no fixed one
            code.append(function_digest(made))
        return [named, self.options.max_steps, self.options.seed, *code]

    def _recording_name(self) -> str:
        about = json.dumps([self.options.record_video, *self._determined_by])
        return f"{file_name(self.name)}-recorded-{hashlib.sha256(about.encode()).hexdigest()[:12]}"

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """The id of an environment that is registered with Gymnasium."""
        if find_spec("gymnasium") is None or Path(path).exists():
            return False
        return path in need("gymnasium", extra="worlds").registry

    @classmethod
    def known_ids(cls) -> tuple[str, ...]:
        """Every environment that is registered."""
        return tuple(need("gymnasium", extra="worlds").registry) if find_spec("gymnasium") else ()

    @classmethod
    def code_run(cls, path: str, options: FormatOptions) -> str:
        """The environment, and the policy."""
        policy = getattr(options, "policy", None)
        return f"the environment {path!r}" + (f" and the policy {policy!r}" if policy else "")

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """The seed that each episode is reset with: the same seed is the same start."""
        seeds = range(self.options.seed, self.options.seed + len(self))
        return tuple(map(str, seeds)) if name == "seed" else None

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """What the environment told at the steps of each episode, such as is_success, or its rewards."""
        found = [self._told(number).get(name) for number in range(len(self))]
        known = any(values is not None for values in found)
        return tuple(None if v is None else reduce(v.tolist()) for v in found) if known else None

    def outcome_names(self) -> tuple[str, ...]:
        """Those of the first episode."""
        return tuple(self._told(0))

    def _told(self, number: int) -> dict[str, npt.NDArray[Any]]:
        """Rewards and infos of an episode's steps; it is recorded, so that it is the same from now on."""
        known = self.recordings.read(number)
        try:
            if known is None:
                known = self._recorded(number)
                self.recordings.write(number, known)
            elif not known.told:  # recorded by an earlier version
                again = self._played(number)
                same = _same(again.episode.states, known.episode.states)
                known = known._replace(told=again.told if same else {})
        except BadEpisode:  # it is reported where its numbers are read
            return {}
        assert known.episode.rewards is not None
        return {"rewards": known.episode.rewards, **known.told}

    def version_parts(self) -> list[Any]:
        """What determines the episodes."""
        return self._determined_by

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The files of the policy."""
        named = self.options.policy
        return () if named is None else tuple(Path(file) for file in source_files(named) if file)

    # --- environments -------------------------------------------------------------------------------------

    @cached_property
    def has_video(self) -> bool:  # type: ignore[override]  # computed on first use
        """Can it be rendered? One image is, to see whether everything for that is installed."""
        if not self.renders:
            self.no_video = f"{self.name} does not render images ({RENDER_MODE})"
        if not self.renders or self.options.videos == "ignore":
            return False
        try:
            need("av", extra="datasets")
            environment = self._renderable()
            try:
                first_image(environment)
            finally:
                environment.close()
        except Exception as error:  # another package's environment may fail in any way
            reason = reason_without_images(error)
            remedy = "Until then its features are shown; afterwards, the same command shows videos"
            self.no_video = f"{self.name} cannot be rendered: {reason}. {remedy}"
            warnings.warn(self.no_video, stacklevel=2)
            return False
        return True

    def _renderable(self) -> Any:
        """The environment as one that renders images."""
        return make_renderable(self.make, gl=self.needs_gl)

    # --- episodes -----------------------------------------------------------------------------------------

    def episode(self, number: int) -> Episode:
        """One episode: as it was recorded, or played now."""
        self.check_number(number)
        known = self.recordings.read(number)
        return (known or self._recorded(number)).episode

    def _recorded(self, number: int) -> Recording:
        """Play an episode, and record it if there may be a video of it."""
        if not self.renders or self.options.videos == "ignore":
            return self._played(number)
        played = None if self.records_video and self.has_video else self._played(number)
        if played is None or (self.has_video and not self._repeats(number, played)):
            self.records_video = True  # one that cannot be repeated is seldom the only one
            played = self._played_on_video(number)
        self.recordings.write(number, played)
        return played

    def _played(self, number: int) -> Recording:
        environment = self.make()
        try:
            return self._as_recording(number, list(self.player.play(environment, number)))
        finally:
            environment.close()

    def _played_on_video(self, number: int) -> Recording:
        """Play an episode and record its video."""
        environment, transitions = self._renderable(), []

        def images() -> Iterator[Image]:
            for transition in self.player.play(environment, number, render=environment.render):
                transitions.append(transition._replace(image=None))
                if transition.image is not None:
                    yield np.asarray(transition.image)

        self.recordings.folder.mkdir(parents=True, exist_ok=True)
        try:
            save_video(self.recordings.video(number), images(), 1 / self.step_seconds)
        except ValueError as error:
            raise (
                error if isinstance(error, BadEpisode) else self.player.not_rendered(number, error)
            ) from error
        finally:
            environment.close()
        return self._as_recording(number, transitions)

    def _as_recording(self, number: int, transitions: list[Transition]) -> Recording:
        try:
            observed = stack([one.observation for one in transitions])
            states, state_names = side_by_side(observed, "state")
            taken = stack([one.action for one in transitions[:-1]])
            actions, action_names = side_by_side(taken, "action")
        except (TypeError, ValueError, KeyError) as error:
            raise BadEpisode(
                self.ids[number], f"the shape of its observations or actions changes: {error!r}"
            ) from error
        rewards = np.array([one.reward for one in transitions[:-1]], dtype=float)
        played = Episode(
            self.ids[number], states, actions, rewards, self.step_seconds, state_names, action_names
        )
        return Recording.of(played, taken, [one.info for one in transitions[:-1]])

    # --- videos -------------------------------------------------------------------------------------------

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The video that was recorded while the episode was played; otherwise where one is rendered to."""
        video = self.recordings.video(number)
        return video if steps is None and video.is_file() else super().clip_path(number, folder, steps)

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The recorded video, or what the environment renders while the recorded actions are played again."""
        video = self.recordings.video(number)
        shown = read_frames(video) if video.is_file() else self._replay(number)
        return islice(shown, *(steps or (None,))), 1 / self.step_seconds

    def _replay(self, number: int) -> Iterator[Image]:
        known, environment = self.recordings.read(number) or self._repeatable(number), self._renderable()
        try:
            for transition in self._replayed(environment, number, known, environment.render):
                if transition.image is not None:
                    yield np.asarray(transition.image)
        finally:
            environment.close()

    def _repeatable(self, number: int) -> Recording:
        """An episode that is not recorded: only one that is the same each time can have been this one."""
        one, other = self._played(number), self._played(number)
        if not _same(one.episode.states, other.episode.states):
            raise BadEpisode(
                self.ids[number],
                "there is no recording of it any more, and played again it differs: extract its features "
                "anew, which records it",
            )
        return one

    def _repeats(self, number: int, played: Recording) -> bool:
        """Do the recorded actions give the recorded states, where that is checked?"""
        if number >= FIRST and number % EVERY:
            return True
        environment = self.make()
        try:
            again = [one.observation for one in self._acted(environment, number, played)]
            return _same(side_by_side(stack(again), "state")[0], played.episode.states)
        except (BadEpisode, ValueError):  # it fails, or what it gives has another shape
            return False
        finally:
            environment.close()

    def _acted(
        self, environment: Any, number: int, known: Recording, render: Callable[[], Any] = lambda: None
    ) -> Iterator[Transition]:
        """The recorded actions played again."""
        taken, last = structured(environment.action_space, known.taken), len(known.episode.actions) - 1
        played = self.player.play(
            environment, number, lambda _, step: at_step(taken, min(step, last)), render
        )  # an environment that its seed does not determine may go on for longer
        return islice(played, len(known.episode.states))

    def _replayed(
        self, environment: Any, number: int, known: Recording, render: Callable[[], Any]
    ) -> Iterator[Transition]:
        """The recorded actions played again; `BadEpisode` at the first state that differs."""
        states = known.episode.states
        for step, transition in enumerate(self._acted(environment, number, known, render)):
            state = side_by_side(stack([transition.observation]), "state")[0]
            if not _same(state[0], states[step]):
                raise BadEpisode(
                    self.ids[number],
                    f"played again, it differs from the recording at step {step}, so its video would show "
                    "something else: its seed does not determine what the environment does, or a package "
                    "has changed since. Use --record-video (record_video=True) to record videos while "
                    "episodes are played",
                )
            yield transition


def _same(state: Array, known: Array) -> bool:
    return state.shape == known.shape and np.allclose(state, known)
