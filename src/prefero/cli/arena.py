"""`prefero arena`: which policy is better? Blind judgments of their rollouts, until the order is known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from prefero._support.commands import prefero_command
from prefero._support.names import listed, no_such
from prefero._support.progress_bar import progress
from prefero._support.sentences import percent, pluralize
from prefero.arena.plan import ARENA_KINDS, CONFIDENCE, LEAST_DIFFERENCE, Goal
from prefero.cli.console import check_report, check_server, console, say
from prefero.cli.databases import open_known_store, open_store, without_password
from prefero.cli.help import Commands, HelpfulGroup
from prefero.cli.options import (
    SESSION,
    feature_options,
    label_column,
    option,
    typed,
    with_dataset_flags,
    with_flags,
)
from prefero.cli.page import PageOptions, serve_session
from prefero.cli.study_tables import print_table
from prefero.datasets import FeatureOptions, LabelColumn
from prefero.datasets.registry import describe_formats
from prefero.questions.answer_kinds import PAIR, Kind

if TYPE_CHECKING:
    from prefero.arena.sources import RolloutSource
    from prefero.arena.standings import Standings
    from prefero.studies.storage.store import Store, Study

ROLLOUTS = "The rollouts"
RANDOM = "random"  # in place of a policy's module:function
# features are only shown here, and nothing is learned from them
NOT_SHOWN = tuple(
    n for n in signature(feature_options).parameters if n not in ("features", "skip_bad", "jobs")
)


class ArenaGroup(HelpfulGroup):
    """`prefero arena A B` is `prefero arena compare A B`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the command that is meant if the first word is none."""
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["compare", *args]
        return super().parse_args(ctx, args)


arena = Commands(
    cls=ArenaGroup,
    help="Find out which policy is better by blind comparisons of rollouts:  prefero arena FOLDER_A FOLDER_B",
)

Rollouts = Annotated[
    list[str],
    typer.Argument(
        metavar="ROLLOUTS...",
        help="The rollouts of each policy, as PATH or NAME=PATH; or all of them in one dataset that has a "
        f"column of policies; or an environment, with --policies. Each is {describe_formats()}.",
        show_default=False,
    ),
]
Database = Annotated[
    str | None,
    option(
        SESSION, "The file of the database, or postgresql://... By default arena.db in Prefero's data folder."
    ),
]


@dataclass(frozen=True)
class ComparisonOptions:
    """Whose rollouts are compared, until what is known, and by whom."""

    policies: Annotated[
        list[str] | None,
        option(
            ROLLOUTS,
            "A policy that plays the environment: NAME=module:function of an observation, or NAME=random; "
            "may be repeated.",
            metavar="NAME=POLICY",
        ),
    ] = None
    policy_column: Annotated[
        str | None,
        option(ROLLOUTS, "The column that says which policy a rollout is of; by default policy."),
    ] = None
    task_column: Annotated[
        str | None,
        option(ROLLOUTS, "The column of the task, within which rollouts are compared; by default task."),
    ] = None
    start_column: Annotated[
        str | None,
        option(
            ROLLOUTS,
            "The column of the start: rollouts from the same one are compared; by default start or seed.",
        ),
    ] = None
    answers: Annotated[
        Kind | None,
        option(
            SESSION,
            "What judges say: which of two rollouts is better (pair), the same or none of them "
            "(pair-or-none), or whether one rollout is a success (success); by default pair.",
            metavar="|".join(ARENA_KINDS),
        ),
    ] = None
    goal: Annotated[
        Goal | None,
        option(SESSION, "What is to be known: the order of all policies, or the best; by default the order."),
    ] = None
    confidence: Annotated[
        float | None,
        option(SESSION, f"Stop when that is known so surely; by default {CONFIDENCE}.", min=0.5, max=1.0),
    ] = None
    least_difference: Annotated[
        float | None,
        option(
            SESSION,
            "Differences do not matter if the better policy wins less than this fraction more than half of "
            f"comparisons; by default {LEAST_DIFFERENCE}, so wins of {0.5 + LEAST_DIFFERENCE:.0%}.",
            min=0.01,
            max=0.49,
        ),
    ] = None
    questions: Annotated[
        int | None,
        option(SESSION, "Stop after so many answers at the latest; by default 60 for each policy.", min=1),
    ] = None
    judge: Annotated[str, option(SESSION, "Who answers; several judges may answer in turn.")] = "judge"
    name: Annotated[
        str | None, option(SESSION, "The name of the arena, to have several about the same policies.")
    ] = None
    database: Database = None
    task_description: Annotated[
        str | None, option(SESSION, "What to look for, in a sentence above every question.", metavar="TEXT")
    ] = None

    @property
    def settings(self) -> dict[str, Any]:
        """Those of the plan; None where they stay as they are."""
        names = ("goal", "confidence", "least_difference", "questions")
        return {name: getattr(self, name) for name in names}

    def typed_again(
        self, rollouts: Sequence[str], features: FeatureOptions, opening: Mapping[str, object]
    ) -> Iterator[str]:
        """The words of the command that continues; a URL of a database may have a password in it."""
        yield from rollouts
        for policy in self.policies or ():
            yield from ("--policies", policy)
        judge = None if self.judge == "judge" else self.judge
        own = {"name": self.name, "judge": judge, "database": without_password(self.database)}
        yield from typed(features, {**own, **opening})


@arena.command()
@with_dataset_flags(without=NOT_SHOWN)
@with_flags("labels", label_column)
@with_flags("page", PageOptions)
@with_flags("options", ComparisonOptions)
def compare(
    rollouts: Rollouts,
    *,
    options: ComparisonOptions,
    page: PageOptions,
    labels: LabelColumn | None,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Compare rollouts in the browser, without knowing whose they are, until the order is known.

    For example:

        prefero arena rollouts/careful rollouts/lazy
        prefero arena rollouts/careful rollouts/lazy --answers success
        prefero arena lerobot_a lerobot_b --labels next.success
        prefero arena CartPole-v1 --policies a=mine:policy --policies b=random
    """
    check_server()
    from prefero.arena.sources import LabelColumns, read_rollouts
    from prefero.server.auth import Visitor
    from prefero.studies.arena_start import arena_name, begin_arena

    policies = options.policies
    columns = LabelColumns(options.policy_column, options.task_column, options.start_column, labels)
    named = named_policies(rollouts, policies, options.policy_column)
    given = {key: value for key, value in options.settings.items() if value is not None}
    with page.listen() as listener:
        store = open_store(options.database, "arena.db")
        study, participant, known = begin_arena(
            store,
            options.name or arena_name(named or [Path(rollouts[0]).stem]),
            named,
            lambda: read_rollouts(sources(rollouts, policies, named, opening), columns, features, **given),
            options.judge,
            task_description=options.task_description,
            answers=options.answers,
            labels=None if labels is None else labels.name,
            **options.settings,
        )
        _say_begun(store, study, known)
        again = prefero_command("arena", *options.typed_again(rollouts, features, opening))
        named_database = ["--database", kept] if (kept := without_password(options.database)) else []
        reported = prefero_command("arena", "report", study.name, *named_database)
        trust = bool(opening["trust"] or policies)
        context = {"trust": trust, "arena_report": reported, "report": say}
        serve_session(listener, page, store, Visitor("participant", study, participant), context)
    _say_standings(store, study, reported)
    say(f"Stopped. To continue:  {again}")


def named_policies(
    rollouts: Sequence[str], policies: Sequence[str] | None, column: str | None
) -> list[str] | None:
    """The names of the policies, if the command line has them; None if a column of the dataset has them."""
    from prefero.arena.sources import split_names

    if policies:
        return [_policy(text)[0] for text in policies]
    if column is not None or len(rollouts) == 1:
        return None
    return [name for name, _ in split_names(rollouts)]


def _policy(text: str) -> tuple[str, str]:
    name, equals, policy = text.partition("=")
    if not (equals and name and policy):
        raise ValueError(f"a policy is NAME=module:function or NAME={RANDOM}, but this is {text!r}")
    return name, policy


def sources(
    rollouts: Sequence[str],
    policies: Sequence[str] | None,
    named: Sequence[str] | None,
    opening: Mapping[str, object],
) -> "list[RolloutSource]":
    """The datasets of the rollouts, opened."""
    from prefero.arena.sources import RolloutSource, split_names
    from prefero.datasets import open_dataset
    from prefero.datasets.registry import options_for

    if not policies:
        paths = [path for _, path in split_names(rollouts)]
        opened = [open_dataset(path, options_for(path, opening).for_comparing()) for path in paths]
        names: Sequence[str | None] = named or [None] * len(opened)
        return [RolloutSource(one, name) for one, name in zip(opened, names, strict=True)]
    if len(rollouts) != 1:
        raise ValueError(f"--policies play one environment, but there are {listed(tuple(rollouts))}")
    return list(_played(rollouts[0], policies, opening))


def _played(
    environment: str, policies: Sequence[str], opening: Mapping[str, object]
) -> "Iterator[RolloutSource]":
    """One dataset for each policy, in the same environment and with the same seeds."""
    from prefero.arena.sources import RolloutSource
    from prefero.datasets import open_dataset
    from prefero.datasets.formats.gymnasium import GymnasiumOptions
    from prefero.datasets.registry import options_for

    options = options_for(environment, opening)
    if not isinstance(options, GymnasiumOptions):
        raise ValueError(f"--policies play a Gymnasium environment, but {environment} is none")
    for name, policy in map(_policy, policies):
        played = replace(options, policy=None if policy == RANDOM else policy)
        yield RolloutSource(open_dataset(environment, played), name)


@arena.command()
def report(
    name: Annotated[
        str | None, typer.Argument(help="The arena's name; by default the newest.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write it; by default NAME-report.", show_default=False),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the folder if it is there: an earlier report.")
    ] = False,
    database: Database = None,
) -> None:
    """Write a report (HTML, Markdown, CSV) of who is better than whom, with a figure; at any time.

    For example:

        prefero arena report
    """
    check_server()
    check_report()
    from prefero.studies.reports.arena import write_arena_report

    store = open_known_store(database, "arena.db")
    study = _arena_named(store, name)
    folder = out or Path(f"{study.name.replace(' ', '-')}-report")
    written = write_arena_report(store, study, folder, overwrite)
    say(written.summary)
    for sentence in written.standings.sentences:
        say(sentence)
    for head, *rows in filter(None, (written.table, written.success_table)):
        print_table(head, rows)
    say(f"The report is in {folder / 'report.html'}.")


@arena.command()
def simulate(
    policies: Annotated[int, typer.Option(min=2, max=26, help="How many policies.")] = 7,
    gap: Annotated[
        float,
        typer.Option(min=0.01, help="Between a policy and the next: 0.6 wins 73% of comparisons, 1.0 84%."),
    ] = 0.6,
    goal: Annotated[Goal, typer.Option(help="What is to be known.")] = "order",
    judges: Annotated[
        Literal["thurstone", "bradley-terry"],
        typer.Option(help="How judges err: as the model assumes, or by the logistic distribution."),
    ] = "thurstone",
    margin: Annotated[float, typer.Option(min=0, help="Differences below it are about equal.")] = 0.0,
    answers: Annotated[
        Kind, typer.Option(help="What judges are asked.", metavar="|".join(ARENA_KINDS))
    ] = PAIR,
    bar: Annotated[
        float, typer.Option(help="The strength of a policy half of whose rollouts are acceptable.")
    ] = 0.0,
    questions: Annotated[int, typer.Option(min=1, help="The largest number of answers.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the policies and the answers.")] = 0,
) -> None:
    """Simulate an arena of policies of known strengths, with chosen questions and with a round robin.

    For example:

        prefero arena simulate --policies 5
    """
    import numpy as np

    from prefero.arena.simulate import SimulatedPolicies

    order = np.random.default_rng(seed).permutation(policies).astype(float)
    strengths = gap * (order - order.mean())
    simulated = SimulatedPolicies(strengths, judges, margin, bar=bar)
    say(f"The true order is {', '.join(simulated.order)}.")
    for strategy, title in (("active", "Chosen questions"), ("round-robin", "Round robin")):
        found = _simulated(simulated, strategy, questions, goal=goal, seed=seed, kind=answers)
        right = "right" if simulated.is_right(found) else "wrong"
        say(f"{title}: {found.sentences[0]} This is {right}.")
        if (best := found.rows[0]).success is not None:
            true = simulated.success[simulated.names.index(best.policy)]
            say(f"{best.policy} succeeds in {best.success_text} of rollouts; {percent(true)} is true.")


def _simulated(policies: Any, strategy: Any, questions: int, **settings: Any) -> "Standings":
    """The standings when the arena ends."""
    from prefero.arena.simulate import simulate_arena

    running = simulate_arena(policies, strategy, questions=questions, **settings)
    with progress(f"simulating an arena, {strategy}", questions) as advance:
        for standings in running:
            advance(1)
            if standings.is_finished:
                break
    return standings


def _arena_named(store: "Store", name: str | None) -> "Study":
    """The arena of this name, or the newest."""
    arenas = {study.name: study for study in store.studies() if study.protocol.get("arena")}
    if not arenas:
        raise ValueError(
            f"there is no arena yet:  {prefero_command('arena', 'FOLDER_A', 'FOLDER_B')}  makes one"
        )
    if name is not None and name not in arenas:
        raise ValueError(no_such("arena", name, tuple(arenas)))
    return arenas[name or list(arenas)[-1]]


def _say_begun(store: "Store", study: "Study", known: bool) -> None:
    from prefero.studies.asking.arena_schedule import arena_of

    arena = arena_of(store, study)
    plan, answers = arena.plan, len(arena.judgments)
    say(f"The arena {study.name!r} compares {len(plan.policy_of)} rollouts of {listed(plan.policies)}.")
    if known:
        say(f"It continues after {pluralize(answers, 'answer')}.")
    if plan.labels is not None:
        say(f"{plan.labels.describe()}; they count from the first question on.")
        if without := plan.unlabelled:
            say(f"No rollout of {listed(without)} is labelled.")
    what = "the order is" if plan.goal == "order" else "the best one is"
    say(
        f"It ends when {what} known with {plan.confidence:.0%}, or that no difference matters (wins of "
        f"{0.5 + plan.least_difference:.0%}), or after {plan.questions} answers."
    )


def _say_standings(store: "Store", study: "Study", report: str) -> None:
    """What was found; the policies are named only at the end, or the judge would not be blind any more."""
    from prefero.studies.asking.arena_schedule import arena_of

    found = arena_of(store, study).standings()
    if found.is_finished:
        for sentence in found.sentences:
            say(sentence)
        say(f"For a report with a figure and every answer:  {report}")
        return
    console.print(f"After {found.answers} answers it is not decided yet.")
    say(f"To see how it stands, which names the policies:  {report}")
