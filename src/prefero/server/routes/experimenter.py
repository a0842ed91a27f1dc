"""What only the experimenter may see: how far the participants are."""

from fastapi import APIRouter

from prefero.server.auth import Context, Experimenter
from prefero.server.models import StudyProgress
from prefero.studies.reports.participant_progress import progress_of

router = APIRouter(prefix="/api")


@router.get("/progress")
def progress(visitor: Experimenter, context: Context) -> StudyProgress:
    """How far every participant of the study is."""
    participants = progress_of(context.store, visitor.study)
    return StudyProgress(
        study=visitor.study.name,
        title=visitor.study.protocol["title"],
        participants=participants,
        finished=sum(participant.stage == "done" for participant in participants),
        invited=len(participants),
    )
