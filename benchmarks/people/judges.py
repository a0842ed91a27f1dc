"""Real people as each other's judges: does another person's judgement ever hurt?

    alone    the answers of a person to random pairs of scenes
    judged   the same answers, and what another person, the judge, says of 60 pairs of scenes

For every person, judge and seed a model learns from both, and orders random pairs of other scenes. The file
is that of `ratings`: an .npz with `features` and `ratings`. The gain is the accuracy with the judge less that
alone.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.people.ratings import Ratings, ordered, people_of, ratings_of
from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from prefero import Learner, Pool
from prefero.plots.tables import markdown_table
from prefero.questions.prior_knowledge import Judgements

ANSWERS = (0, 5, 10, 20, 40)
JUDGED = 60
ALONE = -1  # the number of no judge
POOL = 400  # scenes of a person that questions are about


def judgements(judge: Ratings, rng: np.random.Generator) -> Judgements:
    """What a judge says of random pairs of the scenes that it rated."""
    pairs = rng.choice(judge.learned, (JUDGED, 2))
    scores = judge.scores[pairs]
    order = np.where((scores[:, 0] >= scores[:, 1])[:, None], pairs, pairs[:, ::-1])
    better, worse = judge.features[order.T]
    return Judgements("another person", better, worse, scores[:, 0] == scores[:, 1])


def work(job: Job, path: Path) -> list[Row]:
    """A person with one judge, or alone."""
    ratings = ratings_of(path, job["person"], job["seed"])
    learner = Learner(Pool(ratings.features[ratings.learned[:POOL]]), seed=job["seed"])
    if job["judge"] != ALONE:
        judge = ratings_of(path, job["judge"], job["seed"])
        learner.judge(judgements(judge, np.random.default_rng([job["seed"], job["judge"]])))
    rows = list[Row]()
    for count in ANSWERS:
        while len(learner.answers) < count:
            question = learner.ask(strategy="random")
            learner.tell(question, ratings.answer(question))
        rewards = np.asarray(learner.reward().predict(ratings.features))
        rng = np.random.default_rng([job["seed"], job["person"], count])  # the same pairs for every judge
        rows.append({"answers": count, "accuracy": ordered(rewards, ratings, rng)})
    return rows


def table(rows: Sequence[Row]) -> str:
    """Means over people, judges and seeds; the gain with its standard error, and of the worst couple."""
    found = {(row["seed"], row["person"], row["judge"], row["answers"]): row["accuracy"] for row in rows}

    def cells(count: int) -> list[str]:
        judged = {key: value for key, value in found.items() if key[2] != ALONE and key[3] == count}
        plain = {key: found[key[0], key[1], ALONE, count] for key in judged}
        gain, error = mean_and_error(judged[key] - plain[key] for key in judged)
        couples: dict[tuple[int, int], list[float]] = {}
        for key in judged:
            couples.setdefault((key[1], key[2]), []).append(judged[key] - plain[key])
        worst = min(float(np.mean(gains)) for gains in couples.values())
        means = [float(np.mean([*one.values()])) for one in (plain, judged)]
        return [*(f"{mean:.3f}" for mean in means), f"{gain:+.3f} +- {error:.3f}", f"{worst:+.3f}"]

    head = ["answers", "alone", "with a judge", "gain", "gain of the worst couple"]
    return markdown_table(head, ([count, *cells(count)] for count in ANSWERS))


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("judges", __doc__, people=1)
    parser.add_argument("file", type=Path, metavar="FILE", help="an .npz with features and ratings")
    options = parser.parse_args(argv)
    if not options.file.is_file():
        parser.error(f"there is no file {options.file}: give an .npz with the arrays features and ratings")
    people = people_of(options.file)
    jobs: list[Job] = [
        {"label": options.label, "seed": seed, "person": person, "judge": judge}
        for seed in seeds_of(options)
        for person in people
        for judge in (ALONE, *people)
        if judge != person
    ]
    file = measured(options, jobs, partial(work, path=options.file))
    print(table(labelled(options, file.rows)))


if __name__ == "__main__":
    main()
