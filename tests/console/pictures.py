"""Pictures of the screen, which are also what it must look like.

A picture that looks different from the one that is kept fails its test, and what was
seen lies beside the test's other files. With `HANDOFF_PICTURES=write` the pictures
are drawn anew instead, as SVG and, where a font is there, as PNG.
"""

import asyncio
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from console.app import HandoffApp

PICTURES = Path(__file__).parents[2] / "screenshots"
FONTS = Path("/usr/share/fonts/truetype")
FAMILIES = {"firacode": "Fira Code", "dejavu": "DejaVu Sans Mono"}
_IDS = re.compile(r"terminal-\d+")


async def settled(app: HandoffApp) -> str:
    """The screen as SVG, once it looks the same twice."""
    before, now = "", app.export_screenshot(title="handoff")
    while before != now:
        for screen in app.screen_stack:  # what lies below a panel, too
            screen.refresh(layout=True)
        await asyncio.sleep(0.15)
        before, now = now, app.export_screenshot(title="handoff")
    return _IDS.sub("terminal", now)


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
        """Compares the screen with its picture, or draws the picture anew."""
        svg, path = await settled(app), PICTURES / f"{name}.svg"
        if os.environ.get("HANDOFF_PICTURES") == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg, encoding="utf-8")
            draw(path)
        elif not path.exists() or path.read_text(encoding="utf-8") != svg:
            other = self.seen / path.name
            other.write_text(svg, encoding="utf-8")
            self.wrong.append(f"{name} looks different: {other}")

    def done(self) -> None:
        """Fails if a picture was another."""
        assert self.wrong == [], "see tests/console/pictures.py"


def draw(path: Path) -> None:
    """Draws an SVG as PNG, where a font is there."""
    family = next((f for d, f in FAMILIES.items() if (FONTS / d).is_dir()), None)
    if family is None:
        return
    resvg_py = pytest.importorskip("resvg_py")
    drawn = resvg_py.svg_to_bytes(
        svg_path=str(path), font_dirs=[str(FONTS)], monospace_family=family
    )
    path.with_suffix(".png").write_bytes(bytes(drawn))
