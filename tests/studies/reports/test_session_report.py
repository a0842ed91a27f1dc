"""The report of a session: whole, without anything from elsewhere, and with the words of answers."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from prefero import Pool
from prefero.studies.log.annotations import Annotation, AnnotationKind
from prefero.studies.protocol.protocol import teaching_protocol
from prefero.studies.reports.learning_summary import FeatureLabel, summary_of
from prefero.studies.reports.session_report import answer_words, session_report
from studies.reports.test_learning_summary import log_of, taught

EVIL = '<img src=x onerror="alert(1)">'
FOREIGN = r'(?:src|href)\s*=\s*"(?!data:)|@import|url\(|<script'


def report(answers: int = 8) -> str:
    features = np.random.default_rng(3).normal(size=(30, 2))
    pool = Pool(features, ["speed", EVIL], ids=[f"run {n} {EVIL}" for n in range(30)])
    learner = taught(pool, answers)
    log, labels = log_of(learner), [FeatureLabel("speed", "m/s"), FeatureLabel(EVIL, "")]
    written: list[tuple[int, int | None, int | None, AnnotationKind, str]] = [
        (0, 3, None, "note", f"too fast {EVIL}"),
        (1, None, log.answers[1].asked.id, "tag", "hard"),
    ]
    remarks = tuple(
        Annotation(n, item, question, kind, text, "", "") for n, item, question, kind, text in written
    )
    log = replace(log, annotations=remarks)
    protocol = teaching_protocol(f"Runs {EVIL}", 30, "")
    summary = summary_of(learner, log, labels)
    return session_report(pool, protocol, f"Run {EVIL}", log, summary, lambda n: f"<i>{n}</i>").html()


class Elements(HTMLParser):
    """The names of elements in their order, and which are open at the end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, _: object) -> None:
        self.names.append(tag)
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_is_one_page_that_needs_nothing_from_elsewhere() -> None:
    text = report()
    found = Elements(text)
    assert found.open == []
    assert not {"script", "img", "link", "iframe"} & set(found.names)
    assert not re.search(FOREIGN, text)
    assert EVIL not in text


def test_it_says_what_was_asked_and_learned() -> None:
    text = report()
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert headings[0] == "How well the answers can be predicted"
    assert {"What matters", "The worst", "Notes and tags", "Questions and answers"} <= set(headings)
    assert text.count("<i>") == 9  # a picture of each of the six best and the three worst
    assert len(re.findall(r"<tr><td>\d", text)) == 8
    assert "8 answers." in text
    assert "too fast" in text
    assert "<td>question 2</td><td>hard</td>" in text


def test_before_there_are_enough_answers_it_claims_nothing() -> None:
    text = report(3)
    assert "It is too early to say: 2 more answers" in text
    assert "What matters" not in text


WORDS = [
    ("pair", "left", "A is better"),
    ("pair", "equal", "about equal"),
    ("strength", "right-much", "B is much better"),
    ("best-of-3", "2", "B is the best"),
    ("worst-of-4", "4", "D is the worst"),
    ("rank-3", "2>1=3", "B > A = C"),
    ("pair-or-none", "none", "none is acceptable"),
    ("rate-3", "3", "fine"),
]


@pytest.mark.parametrize(("kind", "choice", "words"), WORDS)
def test_answers_are_said_in_words(kind: str, choice: str, words: str) -> None:
    assert answer_words(kind, choice, ("poor", "fair", "fine")) == words
