"""Which part of a page the film shows, in CSS pixels of the page."""

from dataclasses import dataclass

from playwright.sync_api import FloatRect, Locator

from page.film.stepped_page import SteppedPage

ASPECT = 2.0  # width by height of a view: a film of 16:9, less the captions below it


@dataclass(frozen=True)
class View:
    """Its upper left corner and its width."""

    x: float
    y: float
    width: float

    @property
    def height(self) -> float:
        return self.width / ASPECT

    def towards(self, other: "View", part: float) -> "View":
        """A part of the way to another view, from 0 to 1."""
        x, y, width = (
            a + part * (b - a) for a, b in ((self.x, other.x), (self.y, other.y), (self.width, other.width))
        )
        return View(x, y, width)

    def box(self, ratio: float) -> tuple[float, float, float, float]:
        """Left, top, right and bottom in a picture of the page, with so many pixels for each of the page."""
        left, top = ratio * self.x, ratio * self.y
        return left, top, left + ratio * self.width, top + ratio * self.height

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the page is, as fractions of the view's width and height."""
        return (x - self.x) / self.width, (y - self.y) / self.height


def ease(part: float) -> float:
    """Begin and end slowly."""
    return part * part * (3 - 2 * part)


def whole(page: SteppedPage) -> View:
    return View(0, 0, page.width)


def around(page: SteppedPage, *locators: Locator, margin: float = 12) -> View:
    """The closest view of the parts of the page that these locate."""
    boxes = [box_of(locator) for locator in locators]
    left, top = (min(box[side] for box in boxes) - margin for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + margin
    bottom = max(box["y"] + box["height"] for box in boxes) + margin
    width = min(max(right - left, ASPECT * (bottom - top)), page.width)
    x, y = (left + right - width) / 2, (top + bottom - width / ASPECT) / 2
    return View(_within(x, page.width - width), _within(y, page.height - width / ASPECT), width)


def _within(start: float, end: float) -> float:
    return max(0.0, min(start, end))


def box_of(locator: Locator) -> FloatRect:
    box = locator.first.bounding_box()
    assert box is not None, f"{locator} is not on the page"
    return box
