"""Judges: models, functions and files that say which of two trajectories is better, beside the person."""

from prefero.judges.asking import Budget, JudgedPair, JudgedPairs, judge_pairs, spread_pairs
from prefero.judges.judge import Judge, JudgeError, MalformedAnswer, TryAgain, Verdict
from prefero.judges.judgement_file import read_judgements, write_judgements
from prefero.judges.named import JUDGES, judge_named

__all__ = [
    "JUDGES",
    "Budget",
    "Judge",
    "JudgeError",
    "JudgedPair",
    "JudgedPairs",
    "MalformedAnswer",
    "TryAgain",
    "Verdict",
    "judge_named",
    "judge_pairs",
    "read_judgements",
    "spread_pairs",
    "write_judgements",
]
