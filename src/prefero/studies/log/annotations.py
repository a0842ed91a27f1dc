"""What a teacher writes about trajectories and answers: a note, and tags such as "collision".

    annotation   one thing that was written or taken back, about one trajectory or one question
    remarks      what holds now: the last note, and the tags that were added and not removed

An answer is named by its question, so that what was written while it was open, or before an undo, stays.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

AnnotationKind = Literal["note", "tag", "untag"]
ANNOTATION_KINDS: tuple[AnnotationKind, ...] = get_args(AnnotationKind)
LONGEST_NOTE = 2000  # letters
LONGEST_TAG = 40
MOST_TAGS = 20  # of one trajectory or answer


@dataclass(frozen=True)
class Annotation:
    """One thing that was written: a note, which replaces the one before; a tag; or that a tag was removed.

    Either `trajectory`, by its index, or `question`, by its id, is what it is about. An empty note takes the
    one before back.
    """

    id: int
    trajectory: int | None
    question: int | None
    kind: AnnotationKind
    text: str
    key: str
    at: str


@dataclass(frozen=True)
class Remarks:
    """What holds now of a trajectory or an answer: its note, "" without one, and its tags, oldest first."""

    note: str = ""
    tags: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.note or self.tags)

    def after(self, kind: AnnotationKind, text: str) -> "Remarks":
        """With one thing more."""
        if kind == "note":
            return Remarks(text, self.tags)
        if kind == "tag":
            return self if self.has(text) else Remarks(self.note, (*self.tags, text))
        return Remarks(self.note, tuple(tag for tag in self.tags if not same_tag(tag, text)))

    def has(self, tag: str) -> bool:
        """Whether it has this tag, in capitals or not."""
        return any(same_tag(tag, one) for one in self.tags)


NO_REMARKS = Remarks()


def same_tag(one: str, other: str) -> bool:
    """Whether two tags differ in capitals at most."""
    return one.casefold() == other.casefold()


def remarks_of(annotations: Iterable[tuple[int | None, Annotation]]) -> dict[int, Remarks]:
    """What holds now, by what it is about; nothing for what all was taken back of."""
    found: dict[int, Remarks] = {}
    for subject, one in annotations:
        if subject is not None:
            found[subject] = found.get(subject, NO_REMARKS).after(one.kind, one.text)
    return {subject: remarks for subject, remarks in found.items() if remarks}


def tidied(kind: AnnotationKind, text: str) -> str:
    """The text as it is stored: without space around it, a tag in one line; `ValueError` if it is none."""
    text = text.replace("\r\n", "\n").strip() if kind == "note" else " ".join(text.split())
    most, what = (LONGEST_NOTE, "note") if kind == "note" else (LONGEST_TAG, "tag")
    if len(text) > most:
        raise ValueError(f"a {what} has at most {most} letters, and this one has {len(text)}: shorten it")
    if kind != "note" and not text:
        raise ValueError("a tag is a word or a few, and this one is empty: type a word such as collision")
    if "\0" in text:
        raise ValueError(f"this {what} has a character that cannot be stored: type it again")
    return text


def check_tags(remarks: Remarks) -> None:
    """`ValueError` if there are too many."""
    if len(remarks.tags) > MOST_TAGS:
        raise ValueError(f"at most {MOST_TAGS} tags fit on one trajectory or answer: remove one first")
