"""The time from an answer to both next clips moving in a browser, and from the command to the first pair.

    request     from the key until the page sends the answer
    question    until the response with the next question is there
    shown       until the page shows that question
    moving      until every clip of it has shown two frames that differ
    total       of all these: from the key until both clips move
    first pair  from the start of the command until both clips of the first question move
    slowdown    of a fixed computation: its time beside its processor time. 1 is an idle machine; the times of
                everything else that is measured meanwhile are at least as many times too long

A real server runs in a process of its own. Chromium has no graphics card, so the page draws scenes in three
dimensions on the processor. `videos` is a folder of MP4 files, which is made for the measurement. Every
session begins anew with an empty cache. After each pair has begun to move, the person looks at it for some
seconds, and presses a key.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np

from benchmarks.speed.process_tree import PROC, processes_below, usage
from prefero.rendering.video import save_video

SUBJECTS = ("golf", "driver", "tosser", "videos")
VIDEOS, VIDEO_SIZE, VIDEO_SECONDS, VIDEO_RATE = 24, (360, 640), 3.0, 25.0
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_FLAGS = ("--no-sandbox", "--mute-audio", "--disable-gpu")
SIZE = {"width": 1280, "height": 800}
PATIENCE = 120.0  # seconds for a pair to move
LOOP = 400_000  # steps of the fixed computation
PARTS = ("request", "question", "shown", "moving", "total")

# Runs in the page before its own scripts. A canvas may still have the last question's picture when a question
# is shown, so its third picture is the second of the new question at the latest.
WATCH = """(() => {
    const ANSWER = "/api/session/events";
    let key = 0, look = "", shown = 0, begun = new Map(), found = null, tell = () => {};
    const clips = () => [...document.querySelectorAll(".items-frame canvas, .items-frame video")];
    const moves = (clip) => (begun.get(clip)?.size ?? 0) >= (clip.tagName === "VIDEO" ? 2 : 3);
    const note = (clip, frame) => begun.set(clip, (begun.get(clip) ?? new Set()).add(frame));
    const [width, height] = [192, 128]; // of a small copy: to read every pixel takes longer than to draw
    const small = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    const picture = (canvas) => {
        small.drawImage(canvas, 0, 0, width, height);
        const pixels = new Uint32Array(small.getImageData(0, 0, width, height).data.buffer);
        let hash = 7;
        for (let i = 0; i < pixels.length; i++) hash = (Math.imul(hash, 31) + pixels[i]) | 0;
        return hash;
    };
    const follow = (video, question) => video.requestVideoFrameCallback((_, { mediaTime }) => {
        if (question !== look) return;
        note(video, mediaTime);
        follow(video, question);
    });
    const observe = (clip) => {
        if (clip.tagName === "CANVAS") note(clip, picture(clip));
        else if (!begun.has(clip)) { begun.set(clip, new Set()); follow(clip, look); }
    };
    const fresh = ".items-frame > :is(.fresh-even, .fresh-odd)"; // it alternates from question to question
    const question = () => document.querySelector(fresh)?.className ?? look;
    const requests = () => performance.getEntriesByType("resource");
    const sentTo = (path) => requests().filter(({ name }) => name.endsWith(path));
    performance.setResourceTimingBufferSize(100000);
    const finish = (moving) => {
        const sent = key ? sentTo(ANSWER).at(-1) : { startTime: 0, responseEnd: 0 };
        found = { key, request: sent.startTime, question: sent.responseEnd, shown, moving };
        tell(found);
    };
    const check = () => {
        requestAnimationFrame(check);
        const next = question();
        if (next !== look) [look, shown, begun, found] = [next, performance.now(), new Map(), null];
        if (!look || found || shown < key) return;
        const all = clips();
        all.forEach(observe);
        if (all.length > 0 && all.every(moves)) finish(performance.now());
    };
    requestAnimationFrame(check);
    addEventListener("keydown", () => { key = performance.now(); found = null; }, { capture: true });
    window.pairMoving = () => new Promise((resolve) => { tell = resolve; if (found) resolve(found); });
})()"""


@dataclass
class Session:
    """What was measured of one session; seconds, and one row of `PARTS` for each answer."""

    first_pair: float = float("nan")
    processor: float = float("nan")  # seconds that the server had used when the first pair moved
    parts: list[list[float]] = field(default_factory=list)
    slowdowns: list[float] = field(default_factory=list)

    def add(self, moment: dict[str, float]) -> None:
        """The moments of one answer, in milliseconds of the page's clock."""
        times = [moment[name] for name in ("key", *PARTS[:-1])]
        self.parts.append([*np.diff(times).tolist(), times[-1] - times[0]])

    def rows(self) -> Iterator[str]:
        """A line for each part."""
        for name, values in zip(PARTS, np.array(self.parts).T, strict=True):
            middle, late, most = np.median(values), np.quantile(values, 0.9), values.max()
            yield f"{name:10s} {middle:8.0f} {late:8.0f} {most:8.0f}"


def slowdown() -> float:
    """The time of a fixed computation beside its processor time."""
    wall, processor, value = time.perf_counter(), time.process_time(), 0
    for step in range(LOOP):
        value ^= step
    return (time.perf_counter() - wall) / (time.process_time() - processor)


def make_videos(folder: Path) -> Path:
    """Clips of a ball that crosses the image, each with its own path, speed and color."""
    folder.mkdir()
    for number in range(VIDEOS):
        save_video(folder / f"{number:02d}.mp4", ball(number), VIDEO_RATE, preset="veryfast")
    return folder


def ball(number: int) -> Iterator[Any]:
    """The frames of one clip."""
    rng, (height, width) = np.random.default_rng(number), VIDEO_SIZE
    y, x = np.mgrid[:height, :width]
    background = (
        rng.integers(40, 200, (height // 40, width // 40, 3), dtype=np.uint8).repeat(40, 0).repeat(40, 1)
    )
    start, end, color = rng.uniform(0.1, 0.9, 2), rng.uniform(0.1, 0.9, 2), rng.integers(0, 255, 3)
    for moment in np.linspace(0.0, 1.0, round(VIDEO_SECONDS * VIDEO_RATE)) ** rng.uniform(0.5, 2.0):
        row, column = (start + moment * (end - start)) * VIDEO_SIZE
        inside = (y - row) ** 2 + (x - column) ** 2 < 30**2
        yield np.where(inside[..., None], color.astype(np.uint8), background)


@contextmanager
def teaching(what: str, folder: Path, more: Sequence[str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process of `prefero teach`, and its address."""
    own = {name: str(folder / name) for name in ("PREFERO_DATA", "PREFERO_CACHE")} | {"PYTHONUNBUFFERED": "1"}
    words = ["teach", what, "--no-browser", "--port", "0", "--database", str(folder / "teach.db"), *more]
    with subprocess.Popen(
        [sys.executable, "-m", "prefero", *words],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | own,
    ) as server:
        try:
            assert server.stdout is not None
            printed = iter(server.stdout)
            address = next((hit[0] for line in printed if (hit := re.search(r"http://\S+/", line))), None)
            if address is None:
                raise SystemExit("the server did not start, for the reason above")
            yield server, address
        finally:
            server.terminate()


def open_page(browser: Any, address: str) -> Any:
    """The page, in which `pairMoving()` waits until the clips of its question move."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(1000 * PATIENCE)
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit")
    return page


def measure(browser: Any, what: str, answers: int, look: float, more: Sequence[str] = ()) -> Session:
    """Begin a session, and answer its questions."""
    session, rng = Session(), np.random.default_rng(0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        subject = str(make_videos(folder / "videos")) if what == "videos" else what
        began = time.perf_counter()
        with teaching(subject, folder, more) as (server, address):
            page = open_page(browser, address)
            page.evaluate("pairMoving()")
            session.first_pair = time.perf_counter() - began
            if PROC.is_dir():
                session.processor = usage(processes_below(server.pid)).seconds
            for key in rng.choice(["ArrowLeft", "ArrowRight"], answers).tolist():
                session.slowdowns.append(slowdown())
                page.wait_for_timeout(1000 * look)
                page.keyboard.press(key)
                session.add(page.evaluate("pairMoving()"))
            page.close()
    return session


@contextmanager
def started_browser() -> Iterator[Any]:
    """Chromium without a graphics card."""
    from playwright.sync_api import sync_playwright

    found = next((path for name in BROWSERS if (path := which(name))), None)
    if found is None:
        raise SystemExit(
            f"this benchmark drives a browser, one of {', '.join(BROWSERS)}: install one of them"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(BROWSER_FLAGS))
        yield browser
        browser.close()


def report(what: str, look: float, session: Session) -> None:
    """Print what was measured of a session."""
    busy = np.median([*session.slowdowns, slowdown()])
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(
        f"\n{what}, looked at for {look:g} s: first pair {session.first_pair:.2f} s, of which "
        f"{session.processor:.2f} s of the processor; {len(session.parts)} answers, slowdown {busy:.2f}{load}"
    )
    if session.parts:
        print("ms           median     90th      max")
        print("\n".join(session.rows()), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--subjects", nargs="+", default=list(SUBJECTS), help="worlds, ids of environments, or 'videos'")
    add("--answers", type=int, default=15, help="of each session; 0 measures the first pair alone")
    add("--look", type=float, nargs="+", default=[2.0, 0.0], help="seconds between two answers")
    add("--trajectories", type=int, help="of each session; by default those that the command takes")
    options = parser.parse_args(argv)
    more = [] if options.trajectories is None else ["--trajectories", str(options.trajectories)]
    with started_browser() as browser:
        for what in options.subjects:
            for look in options.look:
                report(what, look, measure(browser, what, options.answers, look, more))


if __name__ == "__main__":
    main()
