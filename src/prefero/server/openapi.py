"""`python -m prefero.server.openapi` prints the OpenAPI document that the page's types are generated from."""

import json
from typing import Any

from prefero.server.app import create_api


def openapi() -> dict[str, Any]:
    """The OpenAPI document of the server."""
    return create_api().openapi()


if __name__ == "__main__":
    print(json.dumps(openapi(), indent=2, sort_keys=True))
