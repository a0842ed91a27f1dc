"""Judges by what a person types after `--judge`.

http://HOST/v1#MODEL      a model behind an OpenAI-compatible API
robometer=http://HOST     a server that says how far a task has got
module:function           a function of the user's own
judgements.jsonl, .csv    a file of judgements, as `prefero judge --out` writes it
NAME, NAME=ADDRESS        a judge of another package
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from prefero._support.names import listed, repeated
from prefero._support.plugins import Registry
from prefero.judges.asking import PAIRS, Budget, JudgedPairs, Pair, judge_pairs, spread_pairs
from prefero.judges.chat import ChatJudge
from prefero.judges.function import FunctionJudge
from prefero.judges.judge import Judge
from prefero.judges.judgement_file import is_judgement_file, read_judgements
from prefero.judges.progress_server import ProgressJudge
from prefero.pools.pool import Pool
from prefero.worlds.base import TASK_DESCRIPTION

MakeJudge = Callable[
    [str, str, bool], Judge
]  # of what is typed after NAME=, the task, and whether code is trusted
JUDGES: Registry[MakeJudge] = Registry("judge", "prefero.judges", {"robometer": ProgressJudge})
FORMS = "http://HOST/v1#MODEL, robometer=http://HOST, module:function, or a file judgements.jsonl"


def judge_named(text: str, task: str = "", *, trust: bool = False) -> Judge:
    """The judge that a person means, or an error that lists the forms.

    Args:
        text: As it is typed after `--judge`.
        task: What makes a trajectory better.
        trust: Cutting a clip may run the code that its plan names.

    Returns:
        The judge; nothing is asked yet.
    """
    if text.startswith(("http://", "https://")):
        address, _, model = text.partition("#")
        return ChatJudge(address, model, task, trust=trust)
    name, _, address = text.partition("=")
    if name in JUDGES:
        return JUDGES.get(name)(address, task, trust)
    if ":" in text:
        return FunctionJudge(text, task, trust)
    known = listed(JUDGES.names())
    raise ValueError(f"there is no judge {text!r}: give {FORMS}, or a judge that is installed: {known}")


@dataclass(frozen=True)
class Consultation:
    """Judges who are asked about a pool, and how much.

    Args:
        judges: As they are typed after `--judge`.
        task: What makes a trajectory better; empty: what the pool's world says.
        pairs: How many pairs each is asked about.
        budget: Of each judge.
    """

    judges: tuple[str, ...]
    task: str = ""
    pairs: int = PAIRS
    budget: Budget | None = None

    def __bool__(self) -> bool:
        return bool(self.judges)

    def about(self, task: str) -> "Consultation":
        """The same with a task."""
        return replace(self, task=task)

    def found(
        self, pool: Pool, say: Callable[[str], None], *, trust: bool = False
    ) -> tuple[JudgedPairs, ...]:
        """What they say; `say` gets a line about what is sent where, before that, and then what each said.

        All are made before the first is asked, so that a misspelt one is found at once. With `trust`, cutting
        a clip may run the code that its plan names.
        """
        task = self._task(pool)
        asked = {
            text: judge_named(text, task, trust=trust) for text in self.judges if not is_judgement_file(text)
        }
        read = {text: read_judgements(text, pool) for text in self.judges if text not in asked}
        names = [judge.name for judge in asked.values()]
        names += [one.judgements.judge for some in read.values() for one in some]
        if again := repeated(names):
            raise ValueError(f"two judges have the name {again[0]!r}: name each once")
        pairs = spread_pairs(pool, self.pairs) if asked else []
        found: list[JudgedPairs] = []
        for text in self.judges:
            new = read.get(text) or (self._asked(asked[text], pool, pairs, say),)
            for sentence in (sentence for one in new for sentence in one.describe()):
                say(sentence)
            found += new
        return tuple(found)

    def _task(self, pool: Pool) -> str:
        """What makes a trajectory better; the sentence that only says that there is none counts as none."""
        task = self.task or ("" if pool.source is None else pool.world().task_description)
        return "" if task == TASK_DESCRIPTION else task

    def _asked(
        self, judge: Judge, pool: Pool, pairs: Sequence[Pair], say: Callable[[str], None]
    ) -> JudgedPairs:
        if line := judge.sends(pool, len(pairs)):
            say(line)
        return judge_pairs(pool, judge, pairs, budget=self.budget)
