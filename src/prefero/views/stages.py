"""The stages of a study, in order: the one list of them.

The constraints of the database, the types of the routes and of the page, the exports and the participants'
progress all follow it. When a stage is due, what it shows and what it accepts is its rule, in `stage_rules`.
"""

from typing import Literal, get_args

Preparation = Literal["consent", "instructions", "target_scores", "practice"]
Stage = Literal[Preparation, "compare", "rate", "done"]
SubmittedStage = Literal[Preparation, "rate"]  # completed by what the participant sends, not by answers

STAGES: tuple[Stage, ...] = get_args(Stage)
SUBMITTED_STAGES: tuple[SubmittedStage, ...] = get_args(SubmittedStage)
