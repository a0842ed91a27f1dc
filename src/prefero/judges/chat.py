"""A vision-language model behind an OpenAI-compatible API as a judge: `http://HOST/v1#MODEL`.

Each call shows two trajectories, each as one sheet of frames, or as a column in a table of features where
there is nothing to see. The model describes both, and then chooses. The answer is JSON, which is wanted by a
schema; servers that refuse a part of the request are asked again without that part.
"""

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any

from prefero.judges.http_client import TIMEOUT, Refused, check_address, is_private, post
from prefero.judges.judge import Judge, JudgeError, MalformedAnswer, TryAgain, Verdict
from prefero.judges.sheets import FRAMES, Sheet, TrajectoryViews
from prefero.pools.pool import Pool
from prefero.questions import PairChoice

PROMPT_VERSION = 1  # another one makes remembered answers worthless
KEYS = ("PREFERO_JUDGE_KEY", "OPENAI_API_KEY")  # of the environment, the first that is set
PATH = "/chat/completions"
ANSWER_TOKENS, MORE, MOST_ANSWER_TOKENS = (
    800,
    4,
    12_800,
)  # at first, how many times as many after an empty answer
LETTERS_A_TOKEN, PIXELS_A_TOKEN = 3, 500  # cautious: tokens are counted before the server has counted any

SYSTEM = (
    "You compare two recorded motions of a robot or a vehicle, A and B, and say which one is better at the "
    "task. First describe what happens in each of them. Then choose. The order in which they are shown means "
    "nothing. If both are about equally good, say so. If what you see does not tell, say that. Answer with "
    'one JSON object and nothing else: {"a": "what happens in A", "b": "what happens in B", "better": "A", '
    '"B", "equal" or "unclear"}'
)
SHEETS = (
    "Each motion is one image: a sheet of frames in the order of time, from left to right and from top to "
    "bottom, each with its number and its time above it."
)
TABLE = "Each motion is described by numbers. The last column says what is usual among all motions."
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "description": "what happens in A"},
        "b": {"type": "string", "description": "what happens in B"},
        "better": {"type": "string", "enum": ["A", "B", "equal", "unclear"]},
    },
    "required": ["a", "b", "better"],
    "additionalProperties": False,
}
CHOICES: dict[str, PairChoice | None] = {"a": "left", "b": "right", "equal": "equal", "unclear": None}
THOUGHTS = re.compile(r"<think>.*?</think>", flags=re.DOTALL)


@dataclass(eq=False)
class ChatJudge(Judge):
    """A model with an address.

    Args:
        address: The base of the API, such as `http://localhost:8000/v1`.
        model: The model's name there, which is the judge's name too.
        task: What makes a trajectory better, in a sentence or two.
        key: The API key; by default that of the environment. It is sent to this address only.
        trust: Cutting a clip may run the code that its plan names.
        timeout: Seconds for one attempt.
    """

    address: str
    model: str
    task: str
    key: str | None = field(default=None, repr=False)
    trust: bool = False
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        self.address = check_address(self.address).removesuffix(PATH)
        if not self.model:
            raise ValueError(f"name the model after the address: {self.address}#MODEL")
        if not self.task.strip():
            raise ValueError(
                f'{self.model} must be told what makes a trajectory better: --task-description "..."'
            )
        self.name, self.task = self.model, self.task.strip()
        self._key, self._key_name = (self.key, "key") if self.key is not None else _key_for(self.address)
        self.key = None
        if not (self._key.isascii() and self._key.isprintable()) or " " in self._key:
            raise ValueError(f"the key in {self._key_name} has characters that no key has")
        self._answer_tokens, self._expected = ANSWER_TOKENS, 0
        self._works = False  # whether the server has ever answered
        self._without: set[str] = set()  # parts of a request that this server refuses
        self._views: TrajectoryViews | None = None

    def judge(self, pool: Pool, left: int, right: int) -> Verdict:
        """One request."""
        body = self._body(pool, left, right)
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            answer = post(
                *(self.address + PATH, json.dumps(body).encode(), headers, self.timeout), secret=self._key
            )
        except Refused as error:
            self._leave_out(error, body)
            raise TryAgain(str(error), 0.0) from None
        self._works = True
        return self._verdict(answer)

    def digest(self, pool: Pool, left: int, right: int) -> str:
        """Of the address, the model, and all that is shown and said."""
        said = [PROMPT_VERSION, self.address, self.model, self._messages(pool, left, right), SCHEMA]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def sends(self, pool: Pool, pairs: int) -> str:
        """What goes where, and with which key."""
        seen = self._shown(pool).has_images
        what = f"sheets of up to {FRAMES} frames" if seen else "features in a table"
        key = "without a key" if not self._key else f"with the key in {self._key_name}"
        open_to_all = "" if is_private(self.address) else ", unencrypted"
        return (
            f"{pairs} pairs, as {what}, and the task go to {self.address}, model {self.model}, {key}"
            f"{open_to_all}; each pair in both orders."
        )

    @property
    def expected_tokens(self) -> int:
        """What the request of the last pair took by a cautious estimate, and the longest answer."""
        return self._expected + self._answer_tokens

    # --- the request --------------------------------------------------------------------------------------

    def _shown(self, pool: Pool) -> TrajectoryViews:
        if self._views is None or self._views.pool is not pool:
            self._views = TrajectoryViews(pool, trust=self.trust)
        return self._views

    def _messages(self, pool: Pool, left: int, right: int) -> list[dict[str, Any]]:
        views = self._shown(pool)
        task = f"The task: {self.task}"
        if views.has_images:
            sheets = {name: views.sheet(index) for name, index in (("A", left), ("B", right))}
            shown = [part for name, sheet in sheets.items() for part in _image_parts(name, sheet)]
            content = [
                _text(f"{task}\n\n{SHEETS} {views.explanation}".strip()),
                *shown,
                _text("Which one is better at the task, A or B?"),
            ]
            pixels = sum(sheet.size[0] * sheet.size[1] for sheet in sheets.values())
        else:
            content, pixels = [_text(f"{task}\n\n{TABLE}\n\n{views.table(left, right)}")], 0
        letters = len(SYSTEM) + sum(len(part.get("text", "")) for part in content)
        self._expected = letters // LETTERS_A_TOKEN + pixels // PIXELS_A_TOKEN
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]

    def _body(self, pool: Pool, left: int, right: int) -> dict[str, Any]:
        schema = {"name": "judgement", "strict": True, "schema": SCHEMA}
        limit = "max_completion_tokens" if "max_tokens" in self._without else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": self._messages(pool, left, right),
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": schema},
            limit: self._answer_tokens,
        }
        return {name: value for name, value in body.items() if name not in self._without}

    def _leave_out(self, error: Refused, body: dict[str, Any]) -> None:
        """Remember which part of a request the server refuses; an error if there is none."""
        if self._works and error.status in (400, 413, 422):  # as it refuses what some pair shows
            raise MalformedAnswer(str(error))
        if error.status == 404 and not self.address.endswith("/v1"):
            raise JudgeError(f"{error}: most addresses end in /v1, as in {self.address}/v1#{self.model}")
        if error.status not in (400, 422):
            raise error
        named = [part for part in ("max_tokens", "temperature") if part in body and part in error.said]
        part = named[0] if named and "response_format" not in error.said else "response_format"
        if part not in body:
            raise error
        self._without.add(part)

    # --- the answer ---------------------------------------------------------------------------------------

    def _verdict(self, content: bytes) -> Verdict:
        try:
            answer = json.loads(content)
            choice = answer["choices"][0]
            text = _text_of(choice["message"].get("content"))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise MalformedAnswer("it is no answer of this API", self.expected_tokens) from None
        tokens = _tokens(answer) or self.expected_tokens
        found = _object_in(text)
        if found is None and (not text.strip() or choice.get("finish_reason") == "length"):
            return self._ask_for_more(tokens)
        if found is None:
            raise MalformedAnswer("it is not JSON", tokens)
        word = str(found.get("better", "")).strip().lower()
        if word not in CHOICES:
            raise MalformedAnswer('it does not say which is better: "A", "B", "equal" or "unclear"', tokens)
        return Verdict(CHOICES[word], _reason(found), tokens)

    def _ask_for_more(self, tokens: int) -> Verdict:
        """After an answer that is empty or cut off: models that think first may need more room."""
        if self._answer_tokens >= MOST_ANSWER_TOKENS:
            raise MalformedAnswer("it is empty or cut off", tokens)
        self._answer_tokens *= MORE
        raise TryAgain("its answer was empty or cut off", 0.0, tokens)


def _key_for(address: str) -> tuple[str, str]:
    """The key of the environment and the name of its variable; one that is meant for OpenAI only if nobody
    on the way can read it."""
    for name in KEYS:
        if (key := os.environ.get(name, "").strip()) and (name == KEYS[0] or is_private(address)):
            return key, name
    return "", ""


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image_parts(name: str, sheet: Sheet) -> list[dict[str, Any]]:
    content = base64.b64encode(sheet.content).decode()
    return [
        _text(f"Motion {name}: {sheet.frames} frames from 0.0 s to {sheet.seconds:.1f} s."),
        {"type": "image_url", "image_url": {"url": f"data:image/{sheet.kind};base64,{content}"}},
    ]


def _text_of(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _object_in(text: str) -> dict[str, Any] | None:
    """The JSON object in a text that may have thoughts before it, and a fence around it."""
    text = THOUGHTS.sub("", text)
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _tokens(answer: dict[str, Any]) -> int:
    """How many the server counted; 0 if it did not."""
    usage = answer.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total > 0 else 0


def _reason(found: dict[str, Any]) -> str:
    return " ".join(
        f"{name.upper()}: {' '.join(str(found[name]).split())}" for name in ("a", "b") if found.get(name)
    )
