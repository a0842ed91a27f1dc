"""The JSON file of a learner: its pool, model, questions and answers; enough to ask the next question.

    pool          features, scaling and ids; actions and poses of simulated trajectories; the paths of clips
    model         its class and parameters; the class alone for a model of the user's own
    acquisition   its registered name and parameters, likewise
    told          answered questions, in the order of the answers; open and skipped ones
    persons       who was asked a question, by its number, where several people answer

The belief is not stored, since it follows from the answers. No code is stored.
"""

import json
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from prefero import kernels
from prefero._support.files import write_atomically
from prefero._support.json_documents import read_document
from prefero.acquisition.base import ACQUISITION_FUNCTIONS, AnyAcquisitionFunction, acquisition_named
from prefero.learner.asked_questions import AskedQuestions
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPreference
from prefero.models.preference_gp import PreferenceGP, PreferenceModel
from prefero.pools import pool_file
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question

FORMAT, VERSION = "prefero learner", 1
REMEDY = "give a file that Learner.save wrote, or save the learner again"
MODELS: dict[str, type[PreferenceModel]] = {
    "PreferenceGP": PreferenceGP,
    "LinearPreference": LinearPreference,
}
TEXTS = ("person", "source", "because")  # of an answer, which are mostly empty
DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, ImportError)


class LearnerFileError(ValueError):
    """A file is not a learner that this version can use."""


@dataclass(frozen=True)
class LearnerState:
    """What a learner consists of, and what its file keeps; None for what is the user's own."""

    pool: Pool
    seed: int
    model: Any
    acquisition: AnyAcquisitionFunction | None
    questions: AskedQuestions


def write(path: Path, state: LearnerState) -> None:
    """Write a learner's file, whole or not at all."""
    questions = state.questions
    document = {
        "format": FORMAT,
        "version": VERSION,
        "seed": state.seed,
        "model": _model_to_json(state.model),
        "acquisition": _acquisition_to_json(state.acquisition),
        "numbers": questions.last_number,
        "told": [_answer_to_json(answer) for answer in questions.answered.values()],
        "open": [_question_to_json(question) for question in questions.open.values()],
        "skipped": [_question_to_json(question) for question in questions.skipped.values()],
        "persons": questions.persons,
        "pool": pool_file.to_json(state.pool, path.parent),
    }
    write_atomically(path, json.dumps(document, allow_nan=False, default=_plain) + "\n", private=True)


def read(
    path: Path, model: Any = None, acquisition: AnyAcquisitionFunction | str | None = None
) -> LearnerState:
    """What `write` wrote, or an error that says what is wrong with the file.

    Args:
        path: The file.
        model: In place of the file's, or for a file without one.
        acquisition: Likewise.

    Returns:
        The state.
    """
    document = read_document(path, "learner", FORMAT, VERSION, LearnerFileError, REMEDY)
    try:
        state = _state(document, path)
    except DAMAGED as error:
        raise LearnerFileError(f"{path} is damaged: {type(error).__name__} {error}") from error
    function = state.acquisition if acquisition is None else acquisition_named(acquisition)
    whole = replace(state, model=model or state.model, acquisition=function)
    for name, given in (("model", whole.model), ("acquisition", whole.acquisition)):
        if given is None:
            raise LearnerFileError(f"{path} was saved with your own {name}: give it, {name}=...")
    return whole


def _state(document: dict[str, Any], path: Path) -> LearnerState:
    return LearnerState(
        pool=pool_file.from_json(Pool, document["pool"], path.parent),
        seed=int(document["seed"]),
        model=_model_from_json(document["model"]),
        acquisition=_acquisition_from_json(document["acquisition"]),
        questions=_asked(document),
    )


# --- questions --------------------------------------------------------------------------------------------


def _question_to_json(question: Question) -> dict[str, Any]:
    return {
        "items": question.items,
        "value": question.known_value[0],
        "unit": question.unit,
        "number": question.number,
        "kind": question.kind,
    }


def _answer_to_json(answer: Answer) -> dict[str, Any]:
    texts = {name: getattr(answer, name) or None for name in TEXTS}
    more = {"seconds": answer.seconds, **texts}
    known = {name: value for name, value in more.items() if value is not None}
    return _question_to_json(answer.question) | {"choice": answer.choice} | known


def _answer_from_json(row: dict[str, Any]) -> Answer:
    texts = {name: str(row.get(name, "")) for name in TEXTS}
    return Answer(_question_from_json(row), row["choice"], seconds=row.get("seconds"), **texts)


def _question_from_json(row: dict[str, Any]) -> Question:
    value = float("nan") if row["value"] is None else float(row["value"])
    return Question(
        *row["items"], value=value, unit=str(row["unit"]), number=int(row["number"]), kind=row["kind"]
    )


def _asked(document: dict[str, Any]) -> AskedQuestions:
    asked = AskedQuestions()
    for row in document["told"]:
        asked.tell(_answer_from_json(row))
    for row in document["skipped"]:
        asked.skip(_question_from_json(row))
    asked.wait_for(map(_question_from_json, document["open"]), int(document["numbers"]))
    asked.persons = {int(number): str(person) for number, person in document["persons"].items()}
    return asked


# --- models and acquisition functions ---------------------------------------------------------------------


def unfitted(model: Any) -> Any:
    """The same model before it was fitted; a model of the user's own as it is."""
    own = MODELS.get(type(model).__name__) is not type(model)
    return model if own else type(model)(**model.get_params())


def _model_to_json(model: Any) -> dict[str, Any]:
    name = type(model).__name__
    if MODELS.get(name) is not type(model):
        return {"own": repr(model)}
    values = {
        k: kernels.to_json(v) if isinstance(v, kernels.Kernel) else v for k, v in model.get_params().items()
    }
    return {"kind": name, **values}


def _model_from_json(values: dict[str, Any]) -> Any:
    if "own" in values:
        return None
    given = {k: kernels.from_json(v) if isinstance(v, dict) else v for k, v in values.items() if k != "kind"}
    model: Any = MODELS[values["kind"]](**given)
    # an error if they make no sense
    strong = getattr(model, "strong_margin", None) or 0.0
    Probit(1.0 if model.noise is None else model.noise, model.margin or 0.0, model.lapse or 0.0, strong)
    return model


def _acquisition_to_json(function: Any) -> dict[str, Any]:
    for name in ACQUISITION_FUNCTIONS:
        if ACQUISITION_FUNCTIONS.get(name) is type(function):
            return {"kind": name, **(vars(function) if is_dataclass(function) else {})}
    return {"own": repr(function)}


def _acquisition_from_json(values: dict[str, Any]) -> AnyAcquisitionFunction | None:
    if "own" in values:
        return None
    given = {name: value for name, value in values.items() if name != "kind"}
    return ACQUISITION_FUNCTIONS.get(values["kind"])(**given)


def _plain(value: object) -> object:
    """NumPy's numbers and arrays, which models take as parameters, as JSON has them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"a learner's file cannot hold {value!r}")
