"""The scenes of the film: a person teaches golf, the reward appears, and the robot plays the best shot."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

import numpy as np
from PIL.Image import Image
from playwright.sync_api import Browser, Locator, Page

from page.drive_page import KEYS
from page.film.camera import View, around, box_of, whole
from page.film.cards import Cards, window
from page.film.session import Session
from page.film.stepped_page import FPS, SteppedPage
from page.film.take import Take, fade
from prefero import load_reward
from prefero.worlds.golf import TARGET_RADIUS

COMMAND = "prefero teach golf"
SIGNS = {"left": "←", "right": "→"}
# The size of a page in CSS pixels, and the pixels of a picture for each of them.
COMPARING, READING = ((1280, 640), 1.5), ((960, 480), 2.0)
ASKED = ".items-frame[aria-busy=false] > :is(.fresh-even, .fresh-odd)"  # the items are there
SLOW = (6.0, 3.6, 3.0)  # seconds in which the first questions play before they are answered
FAST, SPEED = 11, 6  # frames of each of the others, and how many times as fast they play
TOP = 34  # pixels above a heading to which the page was scrolled
LEARNED = (  # headings of what it learned, and what is said about them
    ("^What matters", "It says in plain words what seems to matter."),
    ("depends on each feature", "Curves: how good a shot is by its speed, and by its angle."),
    ("depends on two features", "Maps: the reward by both, and how uncertain it still is."),
)


@dataclass(frozen=True)
class Studio:
    """What the scenes are filmed with."""

    browser: Browser
    cards: Cards
    session: Session

    def open(
        self, view: str, size: tuple[int, int], ratio: float, *, graphics_card: bool = True
    ) -> SteppedPage:
        address = f"{self.session.server.address}/{view}"
        return SteppedPage(self.browser, address, size, ratio, graphics_card=graphics_card)


def title(studio: Studio) -> Iterator[Image]:
    """What this is, the command, and what it prints."""
    heading = (
        "<h1>Teach a robot by comparing clips</h1><p>Prefero learns what you want from your answers.</p>"
    )
    command = f"$ <b>{COMMAND}</b>"

    def card(lines: str) -> Image:
        return studio.cards.card(heading + window(lines))

    yield from fade(studio.cards.card(""), iter([card("$ ")] * FPS), FPS // 2)
    for typed in range(1, len(COMMAND) + 1):
        yield from [card(f"$ <b>{COMMAND[:typed]}</b>")] * 2
    yield from [card(command)] * (FPS // 2)
    for line in studio.session.printed():
        command += f"\n<i>{escape(line)}</i>"
        yield from [card(command)] * (FPS // 3)
    yield from [card(command)] * (3 * FPS // 2)


def questions(studio: Studio) -> Iterator[Image]:
    """The first answers in their real tempo, the others fast."""
    session = studio.session
    take = Take(open_questions(studio), studio.cards)
    close = _around_question(take)
    take.say(f"A simulated person likes the {session.target.name} target. Which shot is better?")
    yield from take.roll(int(1.6 * FPS))
    yield from take.roll(FPS, to=close)
    yield from take.roll(int((SLOW[0] - 2.6) * FPS))
    take.say("One key answers, and the next pair appears.")
    yield from _answer(take, session, 1, FPS // 3)
    for number, seconds in enumerate(SLOW[1:], 2):
        yield from take.roll(int(seconds * FPS))
        yield from _answer(take, session, number, FPS // 3)
    take.say("Each pair is the one whose answer tells most about other answers.")
    for number in range(len(SLOW) + 1, session.answers + 1):
        yield from take.roll(FAST, speed=SPEED)
        yield from _answer(take, session, number, 4)
    yield from take.roll(FPS // 2, to=whole(take.stepped))
    yield from take.click(take.page.get_by_role("button", name="What it learned"))
    take.stepped.close()


def open_questions(studio: Studio) -> SteppedPage:
    stepped = studio.open("", *COMPARING)
    stepped.wait_for(stepped.page.locator(".progress-text"))
    stepped.step_until(lambda: _is_asked(stepped.page, 0), "the first question")
    for hints in stepped.page.get_by_role("button", name="No hints").all():
        hints.dispatch_event("click")  # those for who teaches for the first time
    return stepped


def _around_question(take: Take) -> View:
    answers = [take.page.get_by_role("button", name=re.compile(f"^{item} is better")) for item in "AB"]
    return around(take.stepped, take.page.locator(".items"), *answers)


def _answer(take: Take, session: Session, number: int, frames: int) -> Iterator[Image]:
    """Press the key of an answer, show it, and go on when the next question is there."""
    choice = session.choice()
    take.press(KEYS[choice], SIGNS[choice])
    yield from take.hold(frames)
    take.stepped.step_until(lambda: _is_asked(take.page, number), f"question {number + 1}")


def _is_asked(page: Page, answered: int) -> bool:
    """Is the question there that follows so many answers?"""
    progress = page.locator(".progress-text").text_content() or ""
    return progress.startswith(f"{answered} ") and page.locator(ASKED).count() == 1


def learned(studio: Studio) -> Iterator[Image]:
    """What it learned, from its top downwards."""
    take = Take(open_learned(studio), studio.cards)
    percent = take.page.locator(".big-number").first.text_content()
    take.say(f"After {studio.session.answers} answers, it expects to predict {percent} of the others.")
    yield from take.hold(int(2.4 * FPS))
    for heading, caption in LEARNED:
        found = take.page.get_by_role("heading", name=re.compile(heading))
        if found.count() > 0:
            take.say(caption)
            yield from take.scroll(FPS, box_of(found)["y"] - TOP)
            yield from take.hold(2 * FPS)
    take.stepped.close()


def open_learned(studio: Studio) -> SteppedPage:
    stepped = studio.open("?view=learned", *READING, graphics_card=False)
    charts, drawn = stepped.page.locator(".chart"), stepped.page.locator(".chart:has(svg)")
    stepped.step_until(lambda: 0 < charts.count() == drawn.count(), "the charts")
    return stepped


def best_shot(studio: Studio) -> Iterator[Image]:
    """The trajectory with the highest reward plays, large."""
    take = Take(open_best(studio), studio.cards)
    take.view = around(take.stepped, _best(take.page), margin=4)
    take.say("The shot with the highest learned reward:")
    yield from take.roll(int(3.4 * FPS))
    take.say(_where_it_rests(studio.session))
    yield from take.roll(int(3.0 * FPS))
    take.stepped.close()


def open_best(studio: Studio) -> SteppedPage:
    stepped = studio.open("?view=finish", *READING)
    stepped.wait_for(_best(stepped.page))
    _best(stepped.page).scroll_into_view_if_needed()
    return stepped


def _best(page: Page) -> Locator:
    return page.get_by_role("img", name="The best trajectory")


def _where_it_rests(session: Session) -> str:
    distance, name = session.distance(session.best()), session.target.name
    if distance < TARGET_RADIUS:
        return f"The ball comes to rest on the {name} target."
    return f"The ball comes to rest {100 * distance:.0f} cm from the {name} target."


def last_card(studio: Studio) -> Iterator[Image]:
    """Lines of Python that score with the reward, and what they return."""
    session = studio.session
    reward = load_reward(session.save_reward())
    best = [round(value, 2) for value in session.features(session.best()).values()]
    call = f"reward([{best}, [0.6, 35.0]])"
    with np.printoptions(precision=2, suppress=True):
        returned = repr(eval(call, {"reward": reward}))
    heading = "<h1>The reward is a file</h1><p>It scores, plans and trains in Python, without the page.</p>"
    load = escape('>>> reward = prefero.load_reward("reward.json")')
    lines = f"<b>{load}</b>\n<b>{escape('>>> ' + call)}</b>  <i># speed, angle</i>\n{escape(returned)}"
    end = "<strong>Prefero</strong><span>From a checkout: <code>make teach</code></span>"
    yield from [studio.cards.card(heading + window(lines) + f'<div class="last">{end}</div>')] * (5 * FPS)
