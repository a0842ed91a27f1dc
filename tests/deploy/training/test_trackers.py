"""Callbacks of loops, with the trackers' own packages where they are installed: what they have stored."""

import json
import sqlite3
import sys
from importlib import import_module
from pathlib import Path

import pytest

from prefero._support.optional import MissingExtra
from prefero.deploy.training.loop_report import Gain, RoundRecord
from prefero.deploy.training.trackers import TensorBoardCallback, TrackioCallback, WandbCallback

RECORDS = [
    RoundRecord(number, 10 * number, 1000 * number, 20, 0, -1.5, 3, Gain(0.5 * number, 0.1, 0.9, 0.8))
    for number in (1, 2, 3)
]


def test_a_missing_tracker_is_named_with_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    for callback, package in (
        (TensorBoardCallback, "tensorboard"),
        (TrackioCallback, "trackio"),
        (WandbCallback, "wandb"),
    ):
        monkeypatch.setitem(sys.modules, package, None)
        monkeypatch.setitem(sys.modules, f"{package}.summary", None)
        with pytest.raises(MissingExtra, match=f"pip install {package}"):
            callback("log")


def test_tensorboard_finds_the_numbers(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard.summary", exc_type=ImportError)
    reader = import_module("tensorboard.backend.event_processing.event_accumulator")
    make_ndarray = import_module("tensorboard.util.tensor_util").make_ndarray
    callback = TensorBoardCallback(str(tmp_path))
    for record in RECORDS:
        callback(record)
    events = reader.EventAccumulator(str(tmp_path))
    events.Reload()
    found = [(event.step, make_ndarray(event.tensor_proto)) for event in events.Tensors("prefero/gain/mean")]
    assert found == [(1000, pytest.approx(0.5)), (2000, pytest.approx(1.0)), (3000, pytest.approx(1.5))]


def test_trackio_stores_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path))
    pytest.importorskip("trackio")
    callback = TrackioCallback("loop", name="first", auto_log_gpu=False)
    for record in RECORDS:
        callback(record)
    callback._run.finish()
    (path,) = tmp_path.glob("*.db")
    rows = sqlite3.connect(path).execute("select step, metrics from metrics order by step").fetchall()
    found = {step: json.loads(metrics) for step, metrics in rows}
    assert [found[record.steps]["prefero/gain/mean"] for record in RECORDS] == [0.5, 1.0, 1.5]


def test_weights_and_biases_has_the_numbers(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    callback = WandbCallback("loop", mode="offline", dir=str(tmp_path))
    for record in RECORDS:
        callback(record)
    assert callback._run.summary["prefero/gain/mean"] == 1.0  # the last round's come with the end of the run
    callback._run.finish()
