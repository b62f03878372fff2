"""The two themes of our own, and what other themes are asked for.

One accent, used for "yours"; amber for what waits for a person; red only for harm.
Every text colour has a contrast of at least 4.5:1 on its ground. A theme that
doesn't know our names gets them made from its own colours.
"""

from collections.abc import Mapping, Sequence

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="handoff-dark",
    primary="#3fc8ae",
    secondary="#b794f6",
    accent="#3fc8ae",
    warning="#e9b455",
    error="#f2707a",
    success="#8fd080",
    foreground="#dbe1e8",
    background="#10141a",
    surface="#10141a",
    panel="#161d25",
    dark=True,
    variables={
        "yours": "#3fc8ae",
        "wait": "#e9b455",
        "harm": "#f2707a",
        "ok": "#8fd080",
        "agent": "#b794f6",
        "buyer": "#84b3ff",
        "note": "#d9c38a",
        "dim": "#929ca8",
        "faint": "#8791a0",
        "rule": "#2a323c",
        "bar": "#161d25",
        "under": "#1c2b39",
        "still": "#1a222b",
        "on-solid": "#10141a",
        "scrollbar": "#2a323c",
        "scrollbar-background": "#10141a",
    },
)

LIGHT = Theme(
    name="handoff-light",
    primary="#00756a",
    secondary="#6a3fc0",
    accent="#00756a",
    warning="#8a5a00",
    error="#b3261e",
    success="#2e7d32",
    foreground="#1b1f24",
    background="#fdfcf9",
    surface="#fdfcf9",
    panel="#f1f0eb",
    dark=False,
    variables={
        "yours": "#00756a",
        "wait": "#855600",
        "harm": "#b3261e",
        "ok": "#2b772f",
        "agent": "#6a3fc0",
        "buyer": "#1558b0",
        "note": "#7a5a10",
        "dim": "#59616b",
        "faint": "#626972",
        "rule": "#d5d4cd",
        "bar": "#f1f0eb",
        "under": "#e0eeeb",
        "still": "#e9ecea",
        "on-solid": "#ffffff",
        "scrollbar": "#cfcec7",
        "scrollbar-background": "#fdfcf9",
    },
)


LEAST = 4.5
"""The contrast that a text has at least on its ground."""


def made_from(theme: Theme) -> Mapping[str, str]:
    """Our names in another theme's colours."""
    fore, back = theme.foreground or "", theme.background or ""
    accent = theme.accent or theme.primary
    named = {
        "yours": accent,
        "wait": theme.warning or accent,
        "harm": theme.error or accent,
        "ok": theme.success or accent,
        "agent": theme.secondary or theme.primary,
        "buyer": theme.primary,
        "note": theme.warning or accent,
    }
    if theme.ansi:
        return (
            named
            | dict.fromkeys(("dim", "faint", "rule"), "ansi_default")
            | {
                "bar": "ansi_default",
                "under": "ansi_bright_black",
                "still": "ansi_default",
                "on-solid": "ansi_black",
            }
        )
    text = Color.parse(fore or ("#e0e0e0" if theme.dark else "#1e1e1e"))
    ground = Color.parse(back or ("#121212" if theme.dark else "#efefef"))
    under = ground.blend(Color.parse(theme.primary), 0.15)
    grounds = (ground, ground.blend(text, 0.05), ground.blend(text, 0.1), under)
    dims = {"dim": ground.blend(text, 0.72).hex, "faint": ground.blend(text, 0.6).hex}
    texts = {n: _legible(Color.parse(c), grounds) for n, c in (named | dims).items()}
    return {n: c.hex for n, c in texts.items()} | {
        "rule": ground.blend(text, 0.2).hex,
        "bar": grounds[1].hex,
        "still": grounds[2].hex,
        "under": under.hex,
        "on-solid": ground.hex,
    }


def _legible(colour: Color, grounds: Sequence[Color]) -> Color:
    """The colour, moved away from the grounds as far as it takes to be read there."""
    ends = (Color(0, 0, 0), Color(255, 255, 255))
    away = max(ends, key=lambda end: _contrast(end, grounds[0]))
    steps = (colour.blend(away, n / 20) for n in range(20))
    fit = (c for c in steps if min(_contrast(c, g) for g in grounds) >= LEAST)
    return next(fit, away)


def _contrast(one: Color, other: Color) -> float:
    """As WCAG 2 reckons it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    red, green, blue = (
        part / 12.92 if part <= _LINEAR else ((part + 0.055) / 1.055) ** 2.4
        for part in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_LINEAR = 0.04045
"""Up to here a channel's light grows as its number."""
