"""Environments that render: in this process, or in one of their own with a GL library that works."""

import os
from functools import partial
from types import SimpleNamespace

import gymnasium
import mujoco
import numpy as np
import pytest

from datasets.slide_environment import Slide
from prefero.rendering import environments
from prefero.rendering.environments import (
    EnvironmentProcess,
    RendererUnavailable,
    drawn_by_mujoco,
    failure_of,
    first_image,
    gl_choices,
    make_renderable,
    say_mujoco_warnings_once,
)
from rendering.picky_environment import Picky


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(environments, "GL_LIBRARIES", ("egl", "osmesa"))


def test_mujoco_draws_what_has_a_model_of_it() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    assert drawn_by_mujoco(SimpleNamespace(unwrapped=SimpleNamespace(model=model)))
    assert not drawn_by_mujoco(Slide())
    assert isinstance(make_renderable(Slide, gl=False), Slide)


@pytest.mark.parametrize(("screen", "driver"), [("", "dummy"), (":0", None)])
def test_pygame_looks_for_a_screen_only_where_there_is_one(
    screen: str, driver: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name, value in {"DISPLAY": screen, "WAYLAND_DISPLAY": "", "SDL_VIDEODRIVER": "x"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SDL_VIDEODRIVER")
    make_renderable(Slide, gl=False)
    assert os.environ.get("SDL_VIDEODRIVER") == driver


def test_mujoco_says_each_warning_once(capfd: pytest.CaptureFixture[str]) -> None:
    old = '<mujoco><compiler settotalmass="2"/><worldbody><geom size="1"/></worldbody></mujoco>'
    before = mujoco.get_mju_user_warning()
    say_mujoco_warnings_once()
    try:
        for _ in range(3):
            mujoco.MjModel.from_xml_string(old)  # newer versions warn of it
            if (warn := mujoco.get_mju_user_warning()) is not None:
                warn("the simulation is unstable")
    finally:
        mujoco.set_mju_user_warning(before)
    said = capfd.readouterr().err
    assert said.count("the simulation is unstable") == 1
    assert said.count("settotalmass") <= 1


def test_a_library_that_works_is_chosen_for_the_process_alone() -> None:
    environment, here = EnvironmentProcess(Picky), Slide("rgb_array")
    try:
        seen, _ = environment.reset(seed=3)
        np.testing.assert_array_equal(seen, here.reset(seed=3)[0])
        np.testing.assert_array_equal(environment.render(), here.render())
        action = environment.action_space.sample()
        np.testing.assert_array_equal(environment.step(action)[0], here.step(action)[0])
        with pytest.raises(KeyError, match="too far"):
            environment.step(np.array([2.0]))
        assert environment.render().shape == (48, 64, 3)  # it goes on
    finally:
        environment.close()
    assert "MUJOCO_GL" not in os.environ


def test_the_library_that_the_user_chose_is_tried_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gl_choices() == ["egl", "osmesa"]
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    assert gl_choices() == ["glfw", "egl", "osmesa"]


def test_a_platform_with_one_library_takes_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "GL_LIBRARIES", ("",))
    assert gl_choices() == [""]
    with pytest.raises(RendererUnavailable, match=r"default: .*MUJOCO_GL"):
        EnvironmentProcess(Picky)  # which wants a library that is named


def test_what_no_library_renders_is_said_with_the_line_that_installs_one() -> None:
    failure = failure_of({"egl": EOFError("no display"), "osmesa": EOFError("not found")})
    assert isinstance(failure, RendererUnavailable)
    assert "apt-get install libegl1" in str(failure)
    assert "(egl: no display; osmesa: not found)" in str(failure)


def test_an_error_of_the_environment_itself_is_not_taken_for_a_missing_library() -> None:
    assert repr(failure_of({name: ValueError("no paint") for name in ("egl", "osmesa")})) == (
        "ValueError('no paint')"
    )


def test_an_environment_that_mujoco_draws_is_rendered_without_a_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    try:
        environment = make_renderable(partial(gymnasium.make, "InvertedPendulum-v5"), gl=True)
    except RendererUnavailable:
        pytest.skip("there is no GL library here")
    try:
        assert np.std(first_image(environment)) > 1
    finally:
        environment.close()
