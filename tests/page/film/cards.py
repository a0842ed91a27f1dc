"""What the film adds to the page: cards, captions, keys and the pointer, which the browser draws as well."""

import io
from html import escape

from PIL import Image
from playwright.sync_api import Browser

WIDTH, HEIGHT, STRIP = 1280, 720, 80  # of the film in CSS pixels; captions are in the strip at its bottom
STYLE = """<style>
body { margin: 0; font: 30px/1.35 system-ui, sans-serif; color: #1b2430; }
.card { width: 1280px; height: 720px; box-sizing: border-box; padding: 0 130px; background: #f4f6f9; }
.card { display: flex; flex-direction: column; justify-content: center; }
h1 { font-size: 60px; line-height: 1.15; letter-spacing: -0.02em; margin: 0 0 14px; }
p { margin: 0 0 34px; color: #4d5a6b; }
.window { background: #17202c; color: #e6ebf2; border-radius: 14px; box-shadow: 0 14px 40px #1b243040; }
.dots { padding: 16px 20px 0; font-size: 0; }
.dots i { display: inline-block; width: 13px; height: 13px; margin-right: 9px; }
.dots i { border-radius: 50%; background: #48566a; }
pre { margin: 0; padding: 14px 26px 26px; min-height: 150px; box-sizing: border-box; }
pre { font: 22px/1.6 monospace; white-space: pre-wrap; }
pre b { font-weight: 400; color: #8ab4ff; }
pre i { font-style: normal; color: #a9b6c6; }
.last { margin: 38px 0 0; display: flex; align-items: baseline; gap: 34px; }
.last strong { font-size: 46px; color: #2254b8; letter-spacing: -0.01em; }
.last code { font: 26px monospace; }
.last span { color: #4d5a6b; }
.strip, .key { display: flex; align-items: center; justify-content: center; }
.strip { width: 1280px; height: 80px; background: #17202c; color: #fff; font-size: 31px; }
.key { width: 64px; height: 64px; box-sizing: border-box; border-radius: 12px; font-size: 34px; }
.key { background: #fff; color: #17202c; border: 3px solid #8ab4ff; border-bottom-width: 7px; }
svg { display: block; }
</style>"""
POINTER = """<svg class="shown" width="40" height="56" viewBox="0 0 20 28">
<path d="M2 2v18l4.6-4.2L10 24l3.3-1.4-3.4-7.9 6.3-.5z"
  fill="#111" stroke="#fff" stroke-width="1.6" stroke-linejoin="round"/>
</svg>"""


class Cards:
    """Draws HTML once, for a film of this width."""

    def __init__(self, browser: Browser, width: int) -> None:
        self.scale = width / WIDTH
        self._page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=self.scale
        )
        self._drawn: dict[str, Image.Image] = {}

    def draw(self, html: str) -> Image.Image:
        """The element of the class `shown`, with what is transparent around it."""
        if html not in self._drawn:
            self._page.set_content(STYLE + html)
            png = self._page.locator(".shown").screenshot(omit_background=True)
            self._drawn[html] = Image.open(io.BytesIO(png)).convert("RGBA")
        return self._drawn[html]

    def caption(self, text: str) -> Image.Image:
        return self.draw(f'<div class="strip shown">{escape(text)}</div>').convert("RGB")

    def key(self, text: str) -> Image.Image:
        return self.draw(f'<div class="key shown">{escape(text)}</div>')

    def pointer(self) -> Image.Image:
        return self.draw(POINTER)

    def card(self, html: str) -> Image.Image:
        return self.draw(f'<div class="card shown">{html}</div>').convert("RGB")


def window(lines: str) -> str:
    """A terminal with these lines of HTML."""
    return f'<div class="window"><div class="dots"><i></i><i></i><i></i></div><pre>{lines}</pre></div>'
