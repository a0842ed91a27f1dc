"""Which trajectories a teacher is asked about, and how a teaching session begins or continues."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from prefero import worlds
from prefero._support.sentences import unwrap
from prefero.datasets import BadEpisode, FeatureOptions, FormatOptions, LabelColumn, open_dataset
from prefero.datasets.media.clips import check_plans, missing_clips
from prefero.datasets.registry import Untrusted, code_named_by, not_recognized, options_for, recognize
from prefero.learner.known_options import KnownOptions, knowing_pool, scored_dataset, scored_pool
from prefero.pools.displays import clip_folder_of, display_of
from prefero.pools.from_dataset import label_pool
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file
from prefero.questions import Labels
from prefero.questions.answer import SOURCES
from prefero.questions.answer_kinds import PAIR, Kind
from prefero.questions.prior_knowledge import Judgements, PriorKnowledge
from prefero.rewards.reward import Reward
from prefero.studies.asking.group import group_reward
from prefero.studies.asking.learner_cache import LearnerCache
from prefero.studies.protocol.protocol import Protocol, teaching_protocol
from prefero.studies.storage.clip_folders import is_served, remember_folder
from prefero.studies.storage.store import Participant, Refused, Store, Study, new_secret
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.worlds.base import World

TEACHER = "teacher"
ALL = 2**63


class NotTaughtError(ValueError):
    """There is no session of this name, or nobody has answered in it yet."""


def pool_of(
    what: str,
    trajectories: int | None = None,
    features: FeatureOptions | None = None,
    opening: FormatOptions | None = None,
    *,
    trust: bool = False,
    simulate: Literal["now", "later"] = "now",
    labels: LabelColumn | None = None,
    known: KnownOptions | None = None,
) -> Pool:
    """The trajectories of a world by its name, of a pool's file, or of a dataset, simulated or read.

    `features` and `opening` are for datasets: which features are extracted, and the options of the format.
    `trust` is for pools: their videos may be anywhere, and cutting them may run code.
    `simulate` is for worlds: with "later", each trajectory is simulated when it is shown, where that can be.
    `labels` are for datasets, and for pools if they are in a file: what is known already.
    `known` is what else is known before the first question.
    """
    known = known or KnownOptions()
    pool = _scored_pool(what, trajectories, features, opening, trust, simulate, labels, known.score)
    skip_bad = features is not None and features.skip_bad
    return knowing_pool(pool, known, what, trust=trust, skip_bad=skip_bad)


def _scored_pool(
    what: str,
    trajectories: int | None,
    features: FeatureOptions | None,
    opening: FormatOptions | None,
    trust: bool,
    simulate: Literal["now", "later"],
    labels: LabelColumn | None,
    score: str | None,
) -> Pool:
    """The trajectories with their labels and their score."""
    features = features or FeatureOptions()
    if (kind := _without_options(what)) is not None:
        _check_default(what, kind, features, opening)
    if what in worlds.names():
        if labels is not None:
            raise ValueError(_no_option(what, "a world", "labels"))
        world = worlds.make(what)
        count = trajectories or world.pool_size
        pool = Pool.simulate(world, count, sampling=world.pool_sampling, when=simulate)
        _warn_grid(world, count, len(pool))
        return pool if score is None else scored_pool(pool, score, what)
    if is_pool_file(Path(what)):
        pool = Pool.load(what)
        if not trust:
            _check_clips(what, pool)
        pool = pool if labels is None else label_pool(pool, labels, what)
        pool = pool if trajectories is None else pool.diverse(trajectories)
        return pool if score is None else scored_pool(pool, score, what)
    opening = opening or options_for(_dataset(what), {})
    dataset = open_dataset(what, opening.for_comparing())
    cached = replace(features, cache=True)
    if score is not None:
        dataset, score = scored_dataset(dataset, score, trust=trust)
    return Pool.from_dataset(dataset, cached, count=trajectories, clips="later", labels=labels, score=score)


def _check_clips(what: str, pool: Pool) -> None:
    """A pool may come from somebody else: its videos are beside it, and none of them runs code."""
    own = [Path(what).resolve().parent]
    outside = [clip for clip in pool.clips or () if not is_served(clip, own)]
    if outside:
        raise ValueError(
            f"{what} names videos outside of its own folder, the first is {outside[0]}: add --trust if they "
            "are yours, and may be shown"
        )
    check_plans(pool.clips or ())


def opening_options(what: str, given: Mapping[str, object]) -> FormatOptions | None:
    """The options of a dataset's format, from values by name; None for a world or a pool, which have none."""
    kind = _without_options(what)
    if kind is None:
        return options_for(_dataset(what), given)
    for name, value in given.items():
        if name != "trust" and value is not None and value is not False:
            raise ValueError(_no_option(what, kind, name))
    return None


def continues_alone(store: Store, what: str, name: str | None) -> bool:
    """Is this a session whose file is gone? Its trajectories are in the database."""
    return is_gone(what) and (name or Path(what).stem) in {study.name for study in store.studies()}


def is_gone(what: str) -> bool:
    """Is this neither a world nor anything that can be opened, perhaps because it was deleted or moved?"""
    return _without_options(what) is None and not Path(what).exists() and recognize(what)[0] is None


def _without_options(what: str) -> str | None:
    """What it is if it is not a dataset: a world or a pool."""
    return "a world" if what in worlds.names() else "a pool" if is_pool_file(Path(what)) else None


def _check_default(what: str, kind: str, features: FeatureOptions, opening: FormatOptions | None) -> None:
    for name in features.changed():
        raise ValueError(_no_option(what, kind, name))
    if opening is not None:
        raise ValueError(f"{what} is {kind} and not a dataset, so it is not opened with options")


def _no_option(what: str, kind: str, name: str) -> str:
    return f"{what} is {kind} and not a dataset, so --{name.replace('_', '-')} does not apply"


def check_no_code(what: str) -> None:
    """`Untrusted` if a dataset that a protocol names would run code."""
    code = "" if _without_options(what) else code_named_by(what)
    if code:
        raise Untrusted(f"the protocol names {what}, which would run {code}: add --trust if you trust it")


def _dataset(what: str) -> str:
    if recognize(what)[0] is None:
        raise not_recognized(what, worlds=worlds.names())
    return what


def _warn_grid(world: World, asked: int, made: int) -> None:
    """A grid has as many points along each action, so not every number of trajectories is possible."""
    if made < asked:
        actions = len(world.action_space)
        side = round(made ** (1 / actions))
        grids = [" x ".join([str(points)] * actions) for points in (side, side + 1)]
        warnings.warn(
            f"{world.name} has {made} trajectories instead of {asked}: its actions are on an even grid, and "
            f"{grids[0]} is the largest with up to {asked} points. The next is {grids[1]}: --trajectories "
            f"{(side + 1) ** actions}",
            stacklevel=3,
        )


def begin_teaching(
    store: Store,
    what: str | None,
    name: str | None,
    questions: int,
    trajectories: int | None = None,
    features: FeatureOptions | None = None,
    opening: FormatOptions | None = None,
    *,
    trust: bool = False,
    task_description: str | None = None,
    person: str | None = None,
    answers: Kind | None = None,
    words: Sequence[str] | None = None,
    labels: LabelColumn | None = None,
    known: KnownOptions | None = None,
    goal: float | None = None,
) -> tuple[Study, Participant, bool]:
    """The session of this name: a new one, or (True) the one that was begun before; see `pool_of`.

    `answers` is the kind of answers from now on; None leaves it as it was, or asks about pairs.
    `words` are those for the levels of a label, the lowest first; None leaves them, or takes the usual ones.
    `labels` are learned from, in place of those that it had; None leaves them as they were. So is what else
    is `known`; a score is a feature, with which another session begins.

    `goal` is the fraction of predicted answers at which the page stops asking; None leaves it as it was.

    Without `what` it is a session that was begun before, with the trajectories that the database holds.

    `task_description` tells the teacher what to do; None leaves it as it was, or as the world has it.
    `person` is who answers, where several people teach in one session.
    """
    if person in SOURCES[1:]:
        raise ValueError(f"{person!r} is the name of what was known before any question: choose another --as")
    name = name or Path(what or "").stem
    if what is None or name in {study.name for study in store.studies()}:
        study = store.study(name)
        if study.kind != "teach":
            raise Refused("study-exists", f"{name!r} is a study, not a session: choose another --name")
        if what is not None:
            study = _continued(store, study, what, features, opening, trust, labels, known or KnownOptions())
        described = None if task_description is None else unwrap(task_description)
        if answers not in (None, study.protocol["answers"]) and words is None:
            words = ()  # those of another kind do not fit
        given = {"task_description": described, "answers": answers, "level_words": words, "goal": goal}
        changes = {setting: value for setting, value in given.items() if value is not None}
        Protocol.from_json({**study.protocol, **changes})  # an error before anything is changed
        participant, before = _teacher(store, study, person)
        return store.change_protocol(study, **changes) if changes else study, participant, before
    pool = pool_of(
        what, trajectories, features, opening, trust=trust, simulate="later", labels=labels, known=known
    )
    title = what.title() if what in worlds.names() else name
    protocol = teaching_protocol(title, questions, task_description or "", answers or PAIR, words or ())
    protocol = replace(protocol, goal=goal)
    display = serve_clips(display_of(pool), keep=trust or not own_folder(what))
    study = store.add_study(name, "teach", protocol.to_json(), pool, display, new_secret())
    return study, _teacher(store, study, person)[0], False


def with_judgements(store: Store, study: Study, found: Sequence[Judgements]) -> Study:
    """The session with what judges say, in place of what those of the same names said before."""
    pool, people = store.pool(study), {one.label for one in store.participants(study)}
    for one in found:
        if one.judge in people:
            raise ValueError(f"{one.judge!r} teaches in this session: choose another name for the judge")
    return store.replace_pool(study, pool.knowing(pool.knowledge.judged(*found)), store.display(study))


def _teacher(store: Store, study: Study, person: str | None) -> tuple[Participant, bool]:
    """Who answers in a session, and whether they have before; without a name, the first who did."""
    participants = store.participants(study)
    if person is None and participants:
        return participants[0], True
    label = TEACHER if person is None else person
    if label in {one.judge for one in store.pool(study).knowledge.judgements}:
        raise ValueError(f"{label!r} judges in this session: choose another name for the person, --as")
    for participant in participants:
        if participant.label == label:
            return participant, True
    return store.invite(study, label, new_secret(), seed=len(participants)), False


def taught_reward(store: Store, name: str, command: str) -> Reward:
    """The reward of a teaching session; an error with the command that begins it if there are no answers.

    Where several people taught, it is the reward that they share. Labels are enough, or what else is known.
    """
    study = known_study(store, name, command)
    together = group_reward(store, study)
    if together is not None:
        return together
    logs = [(participant, store.event_log(participant)) for participant in store.participants(study)]
    pool = store.pool(study)
    enough = pool.labels is not None or bool(pool.knowledge)
    answered = [(participant, log) for participant, log in logs if log.answers or enough]
    if not answered:
        raise NotTaughtError(f"the session {name!r} has no answers yet:  {command}")
    participant, log = max(answered, key=lambda pair: len(pair[1].answers))
    protocol = Protocol.from_json(study.protocol)
    cache = LearnerCache(pool, protocol, participant.seed)
    return cache.learner(protocol.methods[0].label, log).reward()


def known_study(store: Store, name: str, command: str) -> Study:
    """The session or study of this name; an error with the command that begins a session if there is none."""
    if name not in {study.name for study in store.studies()}:
        raise NotTaughtError(f"no session {name!r} was taught yet: answer some questions first,  {command}")
    return store.study(name)


def serve_clips(display: dict[str, Any], keep: bool = True) -> dict[str, Any]:
    """The same display; if the user chose its videos, servers of this account may send them from now on."""
    if keep and display["kind"] == "clips":
        remember_folder(display["folder"])
    return display


def own_folder(what: str) -> list[Path]:
    """The folder of a pool's file, which may be somebody else's: its videos are shown while it is taught."""
    return [Path(what).resolve().parent] if is_pool_file(Path(what)) else []


def _continued(
    store: Store,
    study: Study,
    what: str,
    features: FeatureOptions | None,
    opening: FormatOptions | None,
    trust: bool,
    labels: LabelColumn | None,
    known: KnownOptions,
) -> Study:
    """The session, with videos that have become possible since; an error if it was begun with another pool.

    Answers are about trajectories by number: those of another pool would mean something else.
    """
    kept = store.pool(study)
    if is_gone(what):
        warnings.warn(
            f"{what} is not there any more: the session {study.name!r} continues with the trajectories that "
            "its database holds",
            stacklevel=3,
        )
        return study
    if what in worlds.names():
        if kept.source is not None and kept.source.world == what:
            present = kept.knowing(PriorKnowledge.none(len(kept.names)))
            present = present if known.score is None else scored_pool(present, known.score, what)
            _check_scores(study, kept, present)
            return _with_knowledge(store, study, present, known, what, trust, features)
    else:
        present = _pool_now(what, features, opening, trust, labels, known.score)
        _check_scores(study, kept, present)
        rows = _rows_in(present, kept)
        if rows is not None:
            if labels is not None and present.labels is not None:
                study = _with_labels(store, study, present.labels.rows(rows))
            study = _with_knowledge(store, study, present, known, what, trust, features)
            return (
                study
                if present.clips is None
                else _with_videos(store, study, present.clips, rows, trust or not own_folder(what))
            )
    if labels is not None and labels.name in kept.names:
        raise Refused(
            "another-pool",
            f"the session {study.name!r} has {labels.name!r} as a feature, which cannot be its labels too: "
            "choose another --name",
        )
    raise Refused(
        "another-pool",
        f"the session {study.name!r} was begun with other trajectories: choose another --name",
    )


def _with_labels(store: Store, study: Study, labels: Labels) -> Study:
    """The session with these labels, in place of those that it had."""
    kept = store.pool(study)
    if kept.labels == labels:
        return study
    return store.replace_pool(study, kept.labelled(labels), store.display(study))


def _check_scores(study: Study, kept: Pool, present: Pool) -> None:
    """An error if a score is known now that is no feature of the session."""
    new = [name for name in present.knowledge.scores if name not in kept.names]
    if new:
        raise Refused(
            "another-pool",
            f"the score {new[0]!r} is a feature, and the session {study.name!r} was begun without it: choose "
            "another --name",
        )


def _with_knowledge(
    store: Store,
    study: Study,
    present: Pool,
    known: KnownOptions,
    what: str,
    trust: bool,
    features: FeatureOptions | None,
) -> Study:
    """The session that knows this, in place of what it knew; its scores stay, and what judges say."""
    if not known:
        return study
    kept = store.pool(study)
    stay = present.knowledge
    if present.names != kept.names:
        stay = replace(PriorKnowledge.none(len(kept.names)), directions=stay.directions)
    for direction in () if stay.scores else kept.knowledge.directions:
        stay = stay.directed(direction) if direction.is_score else stay
    stay = stay.judged(*kept.knowledge.judgements)
    begun = kept.knowing(stay).described_by(_with_functions(kept.feature_spec, present.feature_spec))
    skip_bad = features is not None and features.skip_bad
    changed = kept.knowing(knowing_pool(begun, known, what, trust=trust, skip_bad=skip_bad).knowledge)
    if changed.knowledge.to_json() == kept.knowledge.to_json():
        return study
    return store.replace_pool(study, changed, store.display(study))


def _with_functions(kept: FeatureSpec | None, present: FeatureSpec | None) -> FeatureSpec | None:
    """How features were computed when a session began, with the user's functions, which no database has."""
    return replace(kept, functions=present.functions) if kept and present else kept


def _with_videos(store: Store, study: Study, clips: Sequence[str], rows: Sequence[int], keep: bool) -> Study:
    """The session with the clips of these rows, if it had none, or if some of its own are gone."""
    if keep:
        remember_folder(clip_folder_of(clips))
    kept = store.pool(study)
    if kept.clips is not None and not missing_clips(kept.clips):
        return study
    own = [clips[row] for row in rows]
    changed = Pool(
        kept.features,
        kept.names,
        clips=own,
        ids=kept.ids,
        scaling=kept.scaling,
        feature_spec=kept.feature_spec,
        labels=kept.labels,
        knowledge=kept.knowledge,
    )
    return store.replace_pool(study, changed, serve_clips(display_of(changed), keep))


def _pool_now(
    what: str,
    features: FeatureOptions | None,
    opening: FormatOptions | None,
    trust: bool,
    labels: LabelColumn | None,
    score: str | None,
) -> Pool:
    """The trajectories there are now; the session continues even if a video was lost since."""
    known = KnownOptions(score=score)
    try:
        return pool_of(what, ALL, features, opening, trust=trust, labels=labels, known=known)
    except BadEpisode:
        without = replace(opening or options_for(what, {}), videos="ignore")
        return pool_of(what, ALL, features, without, trust=trust, labels=labels, known=known)


def _rows_in(present: Pool, kept: Pool) -> list[int] | None:
    """Where each trajectory of the session is among those there are now; None if one is not, or differs.

    Those that were left out when it began may be there again.
    """
    if kept.has_same_trajectories(present):
        return list(range(len(kept)))
    scores = [name for name in kept.knowledge.scores if name not in present.names]  # not given again
    names = [name for name in kept.names if name not in scores]
    if not set(names) <= set(present.names):
        return None
    rows = _same_ids(present, kept)
    if rows is None:
        return None
    columns, own = ([pool.names.index(name) for name in names] for pool in (present, kept))
    same = present.features[rows][:, columns] == kept.features[:, own]
    return rows if bool(same.all()) else None


def _same_ids(present: Pool, kept: Pool) -> list[int] | None:
    """Where each trajectory of the session is among those there are now, by its id, or else its place."""
    if kept.ids is None:
        return list(range(len(kept))) if present.ids is None and len(present) == len(kept) else None
    row = {one: number for number, one in enumerate(present.ids or map(str, range(len(present))))}
    return [row[one] for one in kept.ids] if set(kept.ids) <= set(row) else None
