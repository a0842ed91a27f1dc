"""QR codes of links, for the page and for the terminal. A link with a token is as secret as the token."""

import io

from prefero._support.optional import need

ERROR_LEVEL = "m"  # 15 % of the code may be hidden, by a reflection for example


def qr_rows(text: str) -> list[str]:
    """The squares of the code, without a border: 1 is dark."""
    code = need("segno", extra="server").make_qr(text, error=ERROR_LEVEL)
    return ["".join(map(str, row)) for row in code.matrix]


def qr_text(text: str) -> str:
    """The code in half blocks, light on dark, for a terminal of any colors."""
    written = io.StringIO()
    need("segno", extra="server").make_qr(text, error="l").terminal(out=written, compact=True, border=2)
    return written.getvalue()
