"""Protocols: valid and invalid files, and the schedule of questions."""

import re
import tomllib
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prefero import Pool
from prefero._support.sentences import unwrap
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.methods import method_named
from prefero.studies.protocol.participant_texts import CONSENT, INSTRUCTIONS, THANKS
from prefero.studies.protocol.protocol import (
    BUILT_IN,
    STUDY_NAMES,
    Protocol,
    StudyMethod,
    read_protocol,
    teaching_protocol,
)
from prefero.studies.protocol.toml import protocol_toml
from studies.fake_study import FAST_METHOD, protocol_of

WHOLE = """
title = "Which drive is better?"
world = "driver"
trajectories = 500
consent = "Is that \\"all right\\"?"
instructions = '''
Two cars drive.
  Both are yours.

Say which one you would rather
sit in.
'''
thanks = ""
target_scores = true
practice = false
tests = 10
retests = 5
ties = true
rate = true

[[methods]]
label = "Prefero"
method = "Prefero"
questions = 20

[[methods]]
label = "Random"
method = "Prefero, random"
questions = 21
"""
METHOD = '[[methods]]\nlabel = "A"\nmethod = "Prefero"\nquestions = 4\n'


def from_text(folder: Path, text: str) -> Protocol:
    path = folder / "protocol.toml"
    path.write_text(text, encoding="utf-8")
    return read_protocol(str(path))


# --- files ------------------------------------------------------------------------------------------------


def test_a_file_is_read_as_it_is_written(tmp_path: Path) -> None:
    assert from_text(tmp_path, WHOLE) == Protocol(
        title="Which drive is better?",
        methods=(StudyMethod("Prefero", "Prefero", 20), StudyMethod("Random", "Prefero, random", 21)),
        world="driver",
        trajectories=500,
        consent='Is that "all right"?',
        instructions="Two cars drive. Both are yours.\n\nSay which one you would rather sit in.",
        thanks="",
        target_scores=True,
        practice=False,
        tests=10,
        retests=5,
        rate=True,
        ties=True,
    )


def test_settings_that_a_file_leaves_out_have_defaults(tmp_path: Path) -> None:
    found = from_text(tmp_path, METHOD)
    assert found == Protocol("", (StudyMethod("A", "Prefero", 4),))
    assert (found.consent, found.instructions, found.thanks) == (CONSENT, INSTRUCTIONS, THANKS)
    assert (found.tests, found.retests, found.total_questions, found.trajectories) == (0, 0, 4, None)
    assert (found.practice, found.target_scores, found.rate, found.ties, found.open_ended) == (
        True,
        *[False] * 4,
    )


def test_a_pool_is_beside_the_file_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("elsewhere", "pools"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pools" / "mine.npz").touch()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = from_text(tmp_path, f'title = "Own"\npool = "pools/mine.npz"\n{METHOD}')
    assert found.pool == str(tmp_path.resolve() / "pools" / "mine.npz")


@pytest.mark.parametrize("name", ["protocol", *BUILT_IN])
def test_a_protocol_is_read_from_json_as_it_was_written(name: str) -> None:
    protocol = BUILT_IN.get(name) or protocol_of(tests=2, retests=1, world="driver")
    assert Protocol.from_json(protocol.to_json()) == protocol


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'world = "golf"\npool = "x.npz"\n{METHOD}', "a world or a pool, .*'golf' and 'x.npz'"),
        (f"trajectories = 1\n{METHOD}", "2 trajectories or more, not 1"),
        ('title = "x"', r"needs a method .*\[\[methods\]\]"),
        (
            f'title = "x"\nnonsense = 1\n{METHOD}',
            "no 'nonsense': .*answers, consent, ",
        ),
        ('title = "x"\nmethods = 3', r"\[\[methods\]\] with label, method and questions"),
        ('title = "x"\nmethods = ["Prefero"]', "methods are tables"),
        ('[[methods]]\nlabel = "A"', "protocol.toml: .*missing its name: method = 'Prefero'"),
        (f"{METHOD}color = 3", "protocol.toml: .*no 'color': .*label, method, questions"),
        ("[[methods]]\nmethod = 3", "protocol.toml: method must be of type str, .*3"),
        (f'title = "x"\n{METHOD}{METHOD}', "different label, .*A, A"),
        (f'title = "x"\ntests = -1\n{METHOD}', "tests and retests .*-1 and 0"),
        (f'title = "x"\nretests = -2\n{METHOD}', "tests and retests .*0 and -2"),
        (f'title = "x"\nretests = 3\n{METHOD}', "half of 4 questions .*3"),
        (f'title = "x"\nlevel_words = "good"\n{METHOD}', "protocol.toml: level_words must be a list"),
        (f'title = "x"\nlevel_words = ["a"]\n{METHOD}', "'pair' has no levels"),
        ("title = ", r"protocol.toml .*TOML \(Invalid value"),
    ],
)
def test_an_invalid_protocol_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_text(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"A"', '""', "label of 1 to 100 letters .*'test' and 'retest'"),
        ('"A"', '"test"', "label of .*'test' and 'retest', .*'test'"),
        ('"A"', '"retest"', "label of .*'test' and 'retest', .*'retest'"),
        ('"A"', f'"{"long" * 26}"', "label of 1 to 100 letters"),
        ("questions = 4", "questions = 0", "method 'A' .*1 to 10000 questions, .*0"),
        ("questions = 4", "questions = 2.5", "method 'A' .*1 to 10000 questions, .*2.5"),
        (
            "questions = 4",
            "questions = true",
            "method 'A' .*1 to 10000 questions, .*True",
        ),
        ('"Prefero"', '"Guess"', "no method 'Guess'"),
    ],
)
def test_an_invalid_method_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        from_text(tmp_path, f'title = "x"\n{METHOD.replace(old, new)}')


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("title", "5", "str"),
        ("world", "5", "str"),
        ("consent", "5", "str"),
        ("trajectories", '"many"', "int"),
        ("trajectories", "2.0", "int"),
        ("tests", "true", "int"),
        ("tests", '"3"', "int"),
        ("retests", "1.5", "int"),
        ("rate", "1", "bool"),
        ("ties", '"yes"', "bool"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_its_name(
    tmp_path: Path, name: str, value: str, kind: str
) -> None:
    title = "" if name == "title" else 'title = "x"\n'
    with pytest.raises(ValueError, match=f"protocol.toml: {name} must be of type {kind}"):
        from_text(tmp_path, f"{title}{name} = {value}\n{METHOD}")


def test_a_method_needs_only_its_name(tmp_path: Path) -> None:
    """As the documentation writes it, with the paper's number of questions."""
    text = "".join(f'[[methods]]\nmethod = "{name}"\n' for name in STUDY_NAMES)
    assert from_text(tmp_path, text).methods == tuple(StudyMethod(name, name, 15) for name in STUDY_NAMES)


def test_a_misspelt_method_gets_the_nearest_and_all_that_a_study_can_have() -> None:
    with pytest.raises(ValueError, match="did you mean 'Prefero'") as error:
        StudyMethod("A", "prefero", 3)
    assert all(repr(name) in str(error.value) for name in STUDY_NAMES)
    assert "Oracle" not in str(error.value)
    with pytest.raises(ValueError, match="'Oracle' cannot learn"):
        StudyMethod("A", "Oracle", 3)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_may_be_written_by_any_shell(tmp_path: Path, encoding: str) -> None:
    """PowerShell's > writes UTF-16 with a byte order mark and lines that end in CR LF."""
    path = tmp_path / "mine.toml"
    path.write_bytes(protocol_toml(BUILT_IN["paper"]).replace("\n", "\r\n").encode(encoding))
    assert read_protocol(str(path)) == BUILT_IN["paper"]


def test_a_pool_may_be_the_id_of_a_dataset(tmp_path: Path) -> None:
    assert from_text(tmp_path, f'pool = "Pendulum-v1"\n{METHOD}').pool == "Pendulum-v1"


# --- as files to edit -------------------------------------------------------------------------------------


def settings_of(text: str) -> set[str]:
    return set(re.findall(r"^#? ?(\w+) = ", text, re.MULTILINE))


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_printed_protocol_is_read_as_the_same(name: str, tmp_path: Path) -> None:
    text = protocol_toml(BUILT_IN[name])
    assert from_text(tmp_path, text) == BUILT_IN[name]
    known = {f.name for f in fields(Protocol)} - {"open_ended", "methods", "arena", "goal"}
    assert known - {"pool"} <= settings_of(text)
    assert all(f'"{method}"' in text for method in STUDY_NAMES)
    lines = [
        line
        for line in text.splitlines()
        if re.match(r"(title|world|t\w+s|practice|rate|ties) = [^\"]", line)
    ]
    assert [line for line in lines if "  # " not in line] == []


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=200).map(unwrap)


@example(title='\x7f\t"\\', consent='He said: """yes"""', thanks="\\", pool=None)
@given(title=st.text(max_size=30), consent=TEXTS, thanks=TEXTS, pool=st.none() | st.just('a "b".npz'))
def test_any_texts_survive_being_printed(title: str, consent: str, thanks: str, pool: str | None) -> None:
    protocol = protocol_of(title=title, consent=consent, thanks=thanks, pool=pool)
    text = protocol_toml(protocol)
    found = tomllib.loads(text)
    assert (found["title"], unwrap(found["consent"]), unwrap(found["thanks"])) == (title, consent, thanks)
    assert found.get("pool") == pool


def test_a_protocol_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "noise.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"noise\.toml .*TOML"):
        read_protocol(str(path))


def test_a_name_that_is_neither_built_in_nor_a_file_is_refused(tmp_path: Path) -> None:
    for name in ("papper", str(tmp_path)):
        with pytest.raises(
            FileNotFoundError, match=r"no such file or built-in protocol .*paper, paper-and-prefero"
        ):
            read_protocol(name)


@pytest.mark.parametrize("method", ["ActiveGP 1 0.1", "ActiveLinear"])
def test_ties_are_refused_for_methods_that_cannot_learn_from_them(method: str) -> None:
    """A participant who answers "about equal" to one of them could never go on."""
    with pytest.raises(ValueError, match=r"(?i)about equal|ties"):
        protocol_of(methods=(StudyMethod("A", method, 3),), ties=True)


def test_a_method_that_needs_to_know_the_reward_is_refused() -> None:
    """The family of a real participant's reward is unknown, so this method could ask nothing."""
    with pytest.raises(ValueError, match="Knows"):
        StudyMethod("A", "Knows", 3)


# --- the built-in ones ------------------------------------------------------------------------------------


def test_the_papers_protocol_is_the_papers() -> None:
    paper = read_protocol("paper")
    assert [(a.label, a.questions) for a in paper.methods] == [
        ("ActiveGP", 15),
        ("ActiveLinear", 15),
        ("RandomGP", 15),
    ]
    assert [method_named(a.method).name for a in paper.methods] == [
        "ActiveGP 1 0.1",
        "ActiveLinear",
        "RandomGP 1 0.1",
    ]
    assert (paper.world, paper.tests, paper.retests, paper.total_questions) == ("golf", 5, 0, 50)
    assert (paper.target_scores, paper.practice, paper.rate, paper.ties, paper.open_ended) == (
        True,
        True,
        True,
        False,
        False,
    )
    more = read_protocol("paper-and-prefero")
    assert [asker.label for asker in more.methods] == ["ActiveGP", "ActiveLinear", "RandomGP", "Prefero"]
    assert (more.tests, more.retests, more.total_questions) == (5, 3, 68)
    assert replace(more, methods=paper.methods, retests=0) == paper


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_method_can_ask(name: str, pool: Pool) -> None:
    for asker in BUILT_IN[name].methods:
        method = method_named(asker.method)
        question = asker.learner(pool, seed=3).ask(strategy=method.strategy)
        assert 0 <= question.left < len(pool)


def test_a_teacher_has_one_method_ties_and_no_end() -> None:
    found = teaching_protocol("Mini-golf", 30)
    assert (found.title, found.total_questions, found.open_ended, found.ties) == ("Mini-golf", 30, True, True)
    assert (found.consent, found.instructions, found.practice, found.target_scores) == ("", "", False, False)
    assert found.schedule(0) == ("Prefero",) * 30


def test_a_learner_has_the_model_of_its_method(pool: Pool) -> None:
    first, again, other = (StudyMethod("A", FAST_METHOD, 3).learner(pool, seed) for seed in (1, 1, 2))
    assert first.answers == ()
    assert "theta=1" in repr(first)
    assert first.acquisition == MutualInformation()
    assert first.ask(strategy="random") == again.ask(strategy="random")
    asked = [[learner.ask(strategy="random") for _ in range(5)] for learner in (first, other)]
    assert asked[0] != asked[1]


# --- plans ------------------------------------------------------------------------------------------------


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    counts = draw(st.lists(st.integers(1, 12), min_size=1, max_size=4))
    tests = draw(st.integers(0, 10))
    retests = draw(st.integers(0, (sum(counts) + tests) // 2))
    methods = tuple(StudyMethod(f"M{place}", FAST_METHOD, count) for place, count in enumerate(counts))
    return protocol_of(methods=methods, tests=tests, retests=retests)


@given(protocols(), st.integers(0, 2**31 - 2))
def test_a_schedule_has_the_protocols_numbers_and_depends_on_the_seed_alone(
    protocol: Protocol, seed: int
) -> None:
    plan = protocol.schedule(seed)
    wanted = Counter({asker.label: asker.questions for asker in protocol.methods})
    wanted += Counter(test=protocol.tests, retest=protocol.retests)
    assert Counter(plan) == wanted
    assert len(plan) == protocol.total_questions == protocol.new_questions + protocol.retests
    assert protocol.schedule(seed) == plan


@given(protocols(), st.integers(0, 2**31 - 2))
def test_retests_come_after_the_first_half_and_always_have_something_to_repeat(
    protocol: Protocol, seed: int
) -> None:
    plan = protocol.schedule(seed)
    assert "retest" not in plan[: protocol.new_questions // 2]
    fresh = 0
    for label in plan:
        fresh += -1 if label == "retest" else 1
        assert fresh >= 0


def test_every_order_of_the_schedule_is_equally_likely() -> None:
    protocol = protocol_of(methods=(StudyMethod("A", FAST_METHOD, 2), StudyMethod("B", FAST_METHOD, 1)))
    counted = Counter(protocol.schedule(seed) for seed in range(600))
    assert set(counted) == {("A", "A", "B"), ("A", "B", "A"), ("B", "A", "A")}
    assert all(140 < times < 260 for times in counted.values())


def test_retests_may_come_anywhere_in_the_second_half() -> None:
    protocol = protocol_of(methods=(StudyMethod("A", FAST_METHOD, 4),), retests=1)
    places: Any = [protocol.schedule(seed).index("retest") for seed in range(300)]
    assert set(places) == {2, 3, 4}
    assert np.bincount(places)[2:].min() > 60
