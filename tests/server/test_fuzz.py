"""Random requests that the OpenAPI document allows, and many that it does not, from visitors of every role.

No answer is an error of ours, every answer is one that the description describes, and every refusal has the
one form that refusals have.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from prefero import Pool
from prefero.server.app import create_app
from prefero.server.auth import SESSION_HEADER, ServerContext
from prefero.server.middleware import rate_limit
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from server.served_studies import FAST_TEACHING, Client, add_study, add_teaching, complete_stages, serving
from soak import repetitions

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = repetitions("examples", short=8, long=300)
ROLES = ["nobody", "participant", "experimenter", "teacher"]


@pytest.fixture(scope="module")
def doors(
    pool: Pool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The address of a server without a rate limit, and the secret of each role."""
    store = Store(open_database(tmp_path_factory.mktemp("fuzz") / "answers.db"))
    invited, session = add_study(store, pool), add_teaching(store, pool, FAST_TEACHING)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rate_limit, "BURST", 1e9)
        patched.setattr(rate_limit, "SIGN_IN_BURST", 1e9)
        with serving(create_app(ServerContext(store, token=(session.token, session.visitor)))) as address:
            with Client(address, invited.codes[0]) as page:
                complete_stages(page, until="compare")
            secrets = [None, invited.codes[0], invited.secret, session.token]
            yield address, dict(zip(ROLES, secrets, strict=True))
    store.engine.dispose()


# of the person who runs the server; this one has nobody who may use them (tests/server/test_sessions.py)
MANAGED = ("/api/sessions", "/api/beginnings", "/api/uploads", "/api/phone", "/api/session/rest")


@pytest.fixture(scope="module")
def description(doors: tuple[str, dict[str, str | None]]) -> Any:
    return schemathesis.openapi.from_url(f"{doors[0]}/api/openapi.json")


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
@pytest.mark.parametrize("role", ROLES)
def test_every_response_conforms_to_the_openapi_document(
    role: str, mode: GenerationMode, doors: tuple[str, dict[str, str | None]], description: Any
) -> None:
    found = [one.ok() for one in description.get_all_operations()]
    operations = [one for one in found if not one.path.startswith(MANAGED)]
    taking = [each for each in operations if list(each.body) or list(each.path_parameters)]
    assert (len(operations), len(taking)) == (36, 17)
    address, secret = doors[0], doors[1][role]
    with requests.Session() as session:
        cookies = {"prefero": secret} if secret else {}
        me = session.get(f"{address}/api/me", cookies=cookies, timeout=30).json()
        session.headers[SESSION_HEADER] = me["session"] or ""
        for operation in operations if mode.is_positive else taking:  # what takes nothing takes nothing wrong
            send_all(
                operation, mode, session, address, cookies, examples=EXAMPLES if operation in taking else 2
            )


def send_all(
    operation: Any,
    mode: GenerationMode,
    session: requests.Session,
    address: str,
    cookies: dict[str, str],
    examples: int,
) -> None:
    """Send many requests of one kind, and check the responses."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def send(case: schemathesis.Case[Any], known: bool) -> None:
        if known and isinstance(case.body, dict) and "question" in case.body:
            case.body["question"] = _open(session, address, cookies)  # chance would hardly ever find it
        answer = case.call(session=session, cookies=cookies, timeout=30)
        case.validate_response(answer, checks=CHECKS)
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error"}
            assert set(answer.json()["error"]) == {"code", "message"}

    send()


def _open(session: requests.Session, address: str, cookies: dict[str, str]) -> int:
    """The open question of this visitor, if any."""
    found = session.get(f"{address}/api/session", cookies=cookies, timeout=30).json()
    question: int = (found.get("question") or {"id": 1})["id"]
    return question
