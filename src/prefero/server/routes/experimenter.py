"""What only the experimenter may see: how far the participants are."""

from fastapi import APIRouter

from prefero.server.auth import Experimenter, Here
from prefero.server.models import StudyProgress
from prefero.studies.participant_progress import progress_of

router = APIRouter(prefix="/api")


@router.get("/progress")
def progress(visitor: Experimenter, here: Here) -> StudyProgress:
    """How far every participant of the study is."""
    participants = progress_of(here.store, visitor.study)
    return StudyProgress(
        study=visitor.study.name,
        title=visitor.study.protocol["title"],
        participants=participants,
        finished=sum(participant.stage == "done" for participant in participants),
        invited=len(participants),
    )
