"""Pictures of the screen, which are also what it must look like.

A picture that looks different from the one that is kept fails its test, and what was
seen lies beside the test's other files. With `HANDOFF_PICTURES=write` the pictures
are written anew instead; `python -m tests.console.pictures` then draws as PNG what is
not drawn yet. A PNG names the SVG that it was drawn from by its digest.
"""

import asyncio
import os
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import resvg_py
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from rich.cells import cell_len
from textual.geometry import Spacing
from textual.widgets import Input, TextArea

from console.app import HandoffApp
from console.theme import LEAST
from tests.console.test_words import contrast

PICTURES = Path(__file__).parents[2] / "screenshots"
FONTS = Path("/usr/share/fonts/truetype")
FAMILIES = {"firacode": "Fira Code", "dejavu": "DejaVu Sans Mono"}
COLOURS = 96
"""Colours that a PNG keeps: all of the screen, then the commonest of letters' edges.

The commonest alone would leave a rare red out, and it would turn amber.
"""

NEAR = 8
"""How far an edge's colour is from each of the screen's, in red, green or blue."""

DRAWN_FROM = "svg-sha256"
"""The text of a PNG that says what it was drawn from."""

_COLOUR = re.compile(r"#([0-9a-f]{6})")
_IDS = re.compile(r"terminal-\d+")


async def settled(app: HandoffApp) -> str:
    """The screen as SVG, once it looks the same twice though it was laid out anew.

    The desk's first line is in sight below every panel, and is waited for.
    """
    before, now = "", _painted(app)
    while before != now or "handoff" not in now:
        for screen in app.screen_stack:  # what lies below a panel, too
            screen.refresh(layout=True)
        await asyncio.sleep(0.12)
        before, now = now, _painted(app)
    return _drawn(app)


async def at_once(app: HandoffApp) -> str:
    """The screen as SVG, once it looks the same twice; no cursor blinks on it."""
    for blinking in (*app.screen.query(Input), *app.screen.query(TextArea)):
        blinking.cursor_blink = False
    before, now = "", _painted(app)
    while before != now:
        await asyncio.sleep(0.03)
        before, now = now, _painted(app)
    return _drawn(app)


def _drawn(app: HandoffApp) -> str:
    return _IDS.sub("terminal", app.export_screenshot(title="handoff"))


def _painted(app: HandoffApp) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join(f"{s.text!r}{s.style}" for strip in strips for s in strip)


def weak(app: HandoffApp) -> list[tuple[str, str, str]]:
    """Words that don't stand out from their ground; not what a panel has dimmed."""
    panel = app.screen.query("#panel")
    inside = panel.first().region.shrink(Spacing.all(1)) if panel else app.screen.region
    found: list[tuple[str, str, str]] = []
    for y, strip in enumerate(app.screen._compositor.render_strips()):
        x = 0
        for text, style, _ in strip:
            where, x = (x, y), x + cell_len(text)
            told = inside.contains(*where) and any(c.isalnum() for c in text)
            if told and style and style.color and style.bgcolor:
                ends = style.color, style.bgcolor
                front, ground = (c.get_truecolor().hex for c in ends)
                if contrast(front, ground) < LEAST:
                    found.append((text, front, ground))
    return found


@dataclass
class Album:
    """The pictures of one run, compared with those that are kept.

    Attributes:
        seen: Where what is seen goes, if it is another.
        wrong: What looks different.
    """

    seen: Path
    wrong: list[str] = field(default_factory=list)

    async def keep(self, app: HandoffApp, name: str) -> None:
        """Compares the screen with its picture, or draws the picture anew.

        Laying all out anew takes long: it is done where the picture is another.
        """
        path = PICTURES / f"{name}.svg"
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        if await at_once(app) == kept:
            return
        svg = await settled(app)
        if os.environ.get("HANDOFF_PICTURES") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")
        elif svg != kept:
            other = self.seen / path.name
            other.write_text(svg, encoding="utf-8")
            self.wrong.append(f"{name} looks different: {other}")

    def done(self) -> None:
        """Fails if a picture was another."""
        assert self.wrong == [], "see tests/console/pictures.py"


def digest(path: Path) -> str:
    """What a PNG that is drawn from this SVG says of it."""
    return sha256(path.read_bytes()).hexdigest()


def drawn_from(path: Path) -> str | None:
    """The digest of the SVG that a PNG was drawn from; None where it says nothing."""
    if not path.exists():
        return None
    with Image.open(path) as image:
        return image.info.get(DRAWN_FROM)


def _threes(parts: Sequence[int]) -> list[tuple[int, ...]]:
    return [tuple(parts[n : n + 3]) for n in range(0, len(parts), 3)]


def _apart(edge: Sequence[int], named: Sequence[int]) -> bool:
    """Whether a letter's edge can't be taken for a colour of the screen.

    The nearest colour is looked for in steps of four, so one beside it would be found.
    """
    return max(abs(a - b) for a, b in zip(edge, named, strict=True)) > NEAR


def draw(path: Path) -> None:
    """Draws an SVG as PNG, where it is not drawn yet."""
    if drawn_from(path.with_suffix(".png")) == digest(path):
        return
    family = next(f for d, f in FAMILIES.items() if (FONTS / d).is_dir())
    drawn = resvg_py.svg_to_bytes(
        svg_path=str(path), font_dirs=[str(FONTS)], monospace_family=family
    )
    whole = Image.open(BytesIO(bytes(drawn))).convert("RGB")
    named = sorted(set(_COLOUR.findall(path.read_text(encoding="utf-8"))))
    kept = [tuple(bytes.fromhex(colour)) for colour in named]
    edges = _threes(whole.quantize(COLOURS - len(named), dither=0).getpalette() or [])
    far = [edge for edge in edges if all(_apart(edge, one) for one in kept)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in [*kept, *far] for part in colour])
    few = whole.quantize(palette=palette, dither=0)
    said = PngInfo()
    said.add_text(DRAWN_FROM, digest(path))
    few.save(path.with_suffix(".png"), optimize=True, pnginfo=said)


if __name__ == "__main__":
    with ProcessPoolExecutor() as pool:
        list(pool.map(draw, sorted(PICTURES.glob("*.svg"))))
