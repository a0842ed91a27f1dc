"""Gymnasium environments that render images: in this process, or in one of their own.

MuJoCo draws with a GL library, which the environment variable MUJOCO_GL selects when MuJoCo is imported. A
wrong value makes the import itself fail, and without a screen the default one may end the whole process. So
an environment that MuJoCo draws is made in a process of its own, which plays and renders it step by step: the
variable is set only there, and each library is tried in turn. All others are made here.

    python -m prefero.rendering.environments

is that process. It reads requests, (method, arguments), and writes replies, ("value" or "error", it), all
pickled; both come from programs of the same user on the same machine.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from prefero._support.arrays import Image
from prefero._support.commands import pip_command
from prefero._support.optional import need
from prefero._support.systems import gl_libraries, screenless

RENDER_MODE = "rgb_array"
MODULE = "prefero.rendering.environments"
GL_LIBRARIES = gl_libraries()

Make = Callable[..., Any]  # makes an environment, and takes render_mode


class RendererUnavailable(RuntimeError):
    """MuJoCo found no GL library to render with."""


def drawn_by_mujoco(environment: Any) -> bool:
    """Does MuJoCo draw this environment? Then it needs a process with a GL library to be rendered."""
    mujoco = sys.modules.get("mujoco")
    model = getattr(environment.unwrapped, "model", None)
    return mujoco is not None and isinstance(model, mujoco.MjModel)


def say_mujoco_warnings_once() -> None:
    """Let MuJoCo say each warning once, not for every environment that is made; a user's handler stays."""
    mujoco = sys.modules.get("mujoco")
    if mujoco is not None and mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_say_once)


_SAID: set[str] = set()


def _say_once(text: str) -> None:
    if text not in _SAID:
        _SAID.add(text)
        print(f"MuJoCo: {text}", file=sys.stderr)


def make_renderable(make: Make, *, gl: bool) -> Any:
    """An environment with the methods reset, step, render and close; `gl` says whether MuJoCo draws it."""
    if gl:
        return EnvironmentProcess(make)
    use_pygame_without_screen()
    return make(render_mode=RENDER_MODE)


def use_pygame_without_screen() -> None:
    """Let pygame, where it draws, look for no screen if there is none; it would print an error about that."""
    if screenless():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


def first_image(environment: Any) -> Image:
    """The image of an environment at its start; an error where it cannot be rendered."""
    environment.reset(seed=0)
    image = np.asarray(environment.render())
    if image.dtype != np.uint8 or image.ndim != 3:
        raise ValueError(f"it renders no image, but {image.dtype} of shape {image.shape}")
    return image


def reason_without_images(error: Exception) -> str:
    """Why an environment cannot be rendered, with the line that installs a missing package."""
    reason = str(error).rstrip(".") or repr(error)
    missing = error if isinstance(error, ModuleNotFoundError) else error.__cause__
    if isinstance(missing, ModuleNotFoundError) and "pip install" not in reason and missing.name:
        reason += f"; run `pip install {missing.name.partition('.')[0]}`"
    return pip_command(reason)


class EnvironmentProcess:
    """An environment in a process of its own; its action space is a copy, whose samples are drawn here."""

    def __init__(self, make: Make) -> None:
        made = sys.path, need("cloudpickle", extra="worlds").dumps(make)
        errors: dict[str, Exception] = {}
        for library in gl_choices():
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed in `close`
            self._process = _started(library, self._errors)
            try:
                self.action_space = self._request("make", made)
            except Exception as error:  # a GL library fails in its own way, or ends the process
                errors[library or "default"] = error
                self.close()
            except BaseException:
                self.close()
                raise
            else:
                return
        raise failure_of(errors)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """As of the environment."""
        return self._request("reset", {"seed": seed, "options": options})

    def step(self, action: Any) -> Any:
        """As of the environment."""
        return self._request("step", action)

    def render(self) -> Any:
        """As of the environment."""
        return self._request("render", None)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _request(self, method: str, argument: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump((method, argument), self._process.stdin)
            self._process.stdin.flush()
            kind, value = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            self._process.wait()
            raise EOFError(_last_line(self._errors)) from error
        if kind == "error":
            raise value
        return value


def gl_choices() -> list[str]:
    """Values of MUJOCO_GL to try: the user's own, then those that need no screen.

    Where there is no choice, the only one is an empty text, which leaves MUJOCO_GL as it is.
    """
    return list(dict.fromkeys(filter(None, (os.environ.get("MUJOCO_GL"), *GL_LIBRARIES)))) or [""]


def _started(library: str, errors: Any) -> subprocess.Popen[bytes]:
    """The process, with this value of MUJOCO_GL; what it prints as errors goes to a file."""
    return subprocess.Popen(
        [sys.executable, "-m", MODULE],
        env={**os.environ, **({"MUJOCO_GL": library} if library else {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def _last_line(errors: Any) -> str:
    """The last line of what a process printed as errors."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a message"


def failure_of(errors: Mapping[str, Exception]) -> Exception:
    """The error for what failed with every library; the same one with each has another reason than GL."""
    if len(errors) > 1 and len({repr(error) for error in errors.values()}) == 1:
        return next(iter(errors.values()))
    reasons = "; ".join(f"{library}: {error}" for library, error in errors.items())
    return RendererUnavailable(
        "MuJoCo found no GL library to render with; on Debian, apt-get install libegl1 (or libosmesa6) "
        f"installs one ({reasons})"
    )


# --- the process ------------------------------------------------------------------------------------------


def main() -> None:
    """Serve requests until there are no more."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the environment prints must not come between the replies
    served = _Served()
    while True:
        try:
            method, argument = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply = pickle.dumps(("value", getattr(served, method)(argument)))
        except Exception as error:  # another package's environment may fail in any way
            reply = pickle.dumps(("error", _portable(error)))
        replies.write(reply)
        replies.flush()


class _Served:
    """The environment; infos are left out of the replies, since they may hold anything."""

    environment: Any

    def make(self, made: tuple[list[str], bytes]) -> Any:
        sys.path[:], content = made  # where the user's own modules are
        self.environment = pickle.loads(content)(render_mode=RENDER_MODE)
        first_image(self.environment)  # a GL library that does not work is noticed before anything is played
        return self.environment.action_space

    def reset(self, arguments: dict[str, Any]) -> Any:
        return self.environment.reset(**arguments)[0], {}

    def step(self, action: Any) -> Any:
        return *self.environment.step(action)[:4], {}

    def render(self, _: None) -> Any:
        return np.asarray(self.environment.render())


def _portable(error: Exception) -> Exception:
    """The error, or one with the same message where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # another package's errors may fail in any way
        return RuntimeError(repr(error))
    return error


if __name__ == "__main__":
    main()
