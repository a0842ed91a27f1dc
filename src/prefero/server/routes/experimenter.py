"""What only the experimenter may see: how far everybody is."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from prefero.server.auth import Experimenter, Here
from prefero.studies.participant_progress import progress_of

router = APIRouter(prefix="/api")


@router.get("/experimenter")
def progress(visitor: Experimenter, here: Here) -> dict[str, Any]:
    """Everybody in the study."""
    people = progress_of(here.store, visitor.study)
    return {
        "study": visitor.study.name,
        "title": visitor.study.protocol["title"],
        "people": [asdict(person) for person in people],
        "finished": sum(person.stage == "done" for person in people),
        "invited": len(people),
    }
