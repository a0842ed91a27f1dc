"""The page's types of the HTTP API agree with the server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from prefero.server.openapi import openapi

WEB = Path(__file__).resolve().parents[2] / "web"


def test_the_generated_types_are_up_to_date(tmp_path: Path) -> None:
    places = [os.environ.get("PATH", ""), str(Path(sys.executable).parent)]  # Node may come from PyPI
    node = shutil.which("node", path=os.pathsep.join(places))
    assert node, "there is no Node to generate the types with"
    generated = tmp_path / "api-types.ts"
    document = json.dumps(openapi(), sort_keys=True)
    subprocess.run([node, WEB / "api-types.mjs", generated], input=document, encoding="utf-8", check=True)
    kept = (WEB / "src" / "api-types.ts").read_text(encoding="utf-8")
    assert generated.read_text(encoding="utf-8") == kept, "the HTTP API has changed: type  make api-types"
