"""Processes that render with MuJoCo, each with the GL library that works on this machine.

MuJoCo's renderer needs a GL library, which the environment variable MUJOCO_GL selects when MuJoCo is
imported. A wrong value makes the import itself fail, and without a screen the default one may end the whole
process. So the variable is set only for a process that renders, and each library is tried in turn.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from prefero._support.systems import gl_libraries

GL_LIBRARIES = gl_libraries()


class RendererUnavailable(RuntimeError):
    """MuJoCo found no GL library to render with."""

    @classmethod
    def because(cls, reasons: Sequence[str]) -> "RendererUnavailable":
        """With the reason for each library, and what installs one."""
        return cls(
            "MuJoCo found no GL library to render with; on Debian, apt-get install libegl1 (or libosmesa6) "
            f"installs one ({'; '.join(reasons)})"
        )


def gl_choices() -> list[str]:
    """Values of MUJOCO_GL to try: the user's own, then those that need no screen.

    Where there is no choice, the only one is an empty text, which leaves MUJOCO_GL as it is.
    """
    return list(dict.fromkeys(filter(None, (os.environ.get("MUJOCO_GL"), *GL_LIBRARIES)))) or [""]


def start_with_gl(
    module: str, arguments: Sequence[str], library: str, errors: Any, stdin: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """`python -m module` with this value of MUJOCO_GL; what it prints as errors goes to a file."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **({"MUJOCO_GL": library} if library else {})},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def last_line(errors: Any) -> str:
    """The last line of what a process printed as errors."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a message"
