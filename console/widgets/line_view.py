"""The one list that paints: lines of spans, drawn by the line, nothing else.

Stock tables and logs cost 80 ms a page and pass raw escapes; here a screenful of
prepared lines is one `render_lines`. The style cache of the library is bypassed, so
the line filters (NO_COLOR) are applied here, and no border or padding may be set on
these widgets themselves.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override

from console.widgets.spans import (
    EMPTY,
    ROLES,
    Line,
    clip,
    folded,
    in_ascii,
    steady_line,
    width_of,
)

Maker: TypeAlias = Callable[[int], Sequence[Line]]
"""Makes lines for a width in cells."""


class Painted(ScrollView, can_focus=False, inherit_bindings=False):
    """A widget whose every line is a `Line`; subclasses say which."""

    COMPONENT_CLASSES = {f"role--{role}" for role in ROLES} | {
        "ground--cursor",
        "ground--still",
    }

    class Asked(Message):
        """A span with a command was clicked."""

        def __init__(self, act: str) -> None:
            super().__init__()
            self.act = act

    class Pressed(Message):
        """A line was clicked that has no command of its own."""

        def __init__(self, painted: "Painted", x: int, y: int) -> None:
            super().__init__()
            self.painted = painted
            self.x = x
            self.y = y

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 # Textual's word
        super().__init__(id=id)
        self._styles_by_role: dict[tuple[str, str], Style] = {}

    def line_at(self, y: int) -> Line:
        """The line at a row of the virtual height; subclasses answer."""
        del y
        return EMPTY

    def ground_at(self, y: int) -> str:
        """`cursor`, `still` or "": what a row stands on."""
        del y
        return ""

    def strip_at(self, y: int, width: int) -> Strip:
        """A row as it is painted."""
        return self.painted(self.line_at(y), width, self.ground_at(y))

    def painted(self, spans: Line, width: int, ground: str = "") -> Strip:
        """A line in styles, filled up to the width with its last ground."""
        spans = steady_line(spans)
        if self.app.has_class("-ascii"):
            spans = tuple(span._replace(text=in_ascii(span.text)) for span in spans)
        # what would end under the scroll bar is cut before it
        fitting = spans if width_of(spans) < width else clip(spans, self.inner_width)
        segments = [Segment(s.text, self._style(s.role, ground)) for s in fitting]
        left = width - width_of(fitting)
        if left > 0:
            last = fitting[-1].role if fitting else "text"
            fill = last if last.startswith("solid") else "text"
            segments.append(Segment(" " * left, self._style(fill, ground)))
        return Strip(segments, width)

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Paints the visible rows."""
        width = self.size.width
        top = self.scroll_offset.y + crop.y
        strips = [self.strip_at(y, width) for y in range(top, top + crop.height)]
        filters = self.get_line_filters()
        if filters:
            ground = self.background_colors[1]
            for line_filter in filters:
                strips = [s.apply_filter(line_filter, ground) for s in strips]
        if crop.x or crop.width != width:
            strips = [s.crop(crop.x, crop.x + crop.width) for s in strips]
        return strips

    @override
    def notify_style_update(self) -> None:
        """Forgets the styles of the theme before."""
        self._styles_by_role.clear()
        super().notify_style_update()

    def on_click(self, event: events.Click) -> None:
        """A click runs the span's command, or else is told as a press of its line."""
        y = self.scroll_offset.y + event.y
        at = 0
        for span in self.line_at(y):
            at += cell_len(span.text)
            if event.x < at:
                if span.act:
                    event.stop()
                    self.post_message(self.Asked(span.act))
                    return
                break
        self.post_message(self.Pressed(self, event.x, y))

    @property
    def inner_width(self) -> int:
        """Cells of a line, beside the scroll bar."""
        return self.scrollable_content_region.width

    def to_row(self, y: float) -> None:
        """Scrolls so that a row is the first one shown, at once."""
        self.scroll_to(y=max(0, y), animate=False, force=True)

    def _style(self, role: str, ground: str) -> Style:
        key = (role, ground)
        style = self._styles_by_role.get(key)
        if style is None:
            style = self.get_component_rich_style(f"role--{role}")
            if ground and not role.startswith("solid"):
                under = self.get_component_rich_style(f"ground--{ground}")
                style += Style(
                    bgcolor=under.bgcolor, reverse=under.reverse, bold=under.bold
                )
            self._styles_by_role[key] = style
        return style


class LineView(Painted):
    """Lines that somebody else makes, scrolled when they are too many.

    Who makes them for a width gives a `Maker`: it is asked again whenever the width
    becomes another, so that nobody else has to know when that is. Lines that it was
    given at the start are wrapped where they are too long.
    """

    def __init__(
        self,
        lines: Sequence[Line] = (),
        *,
        id: str | None = None,  # noqa: A002 # Textual's word
    ) -> None:
        super().__init__(id=id)
        self.lines: tuple[Line, ...] = tuple(lines)
        given = self.lines
        self._maker: Maker | None = (lambda w: folded(given, w)) if given else None

    def draw(self, make: Maker) -> None:
        """Paints what this makes for the width, now and at every other width.

        Where it has no place yet, it makes lines all the same: one whose height is
        that of its lines would be given no place without any.
        """
        self._maker = make
        self._paint(make(self.inner_width or self.app.size.width))

    def on_resize(self) -> None:
        """Makes the lines for the new width, and asks for their height once more.

        What is asked for while the screen is laid out is lost.
        """
        if self._maker is not None and self.inner_width:
            before = len(self.lines)
            self._paint(self._maker(self.inner_width))
            if len(self.lines) != before and self.styles.is_auto_height:
                self.call_after_refresh(lambda: self.refresh(layout=True))

    def show(self, lines: Sequence[Line]) -> None:
        """Paints these from now on; the scroll stays where it is."""
        self._maker = None
        self._paint(lines)

    def _paint(self, lines: Sequence[Line]) -> None:
        shown = tuple(lines)
        if shown == self.lines:
            return
        grown = len(shown) != len(self.lines)
        self.lines = shown
        self.virtual_size = Size(0, len(shown))
        self.refresh(layout=grown and self.styles.is_auto_height)

    @override
    def on_mount(self) -> None:
        """Takes its height from what it was made with."""
        self.virtual_size = Size(0, len(self.lines))

    @override
    def line_at(self, y: int) -> Line:
        """The line at this row, or nothing."""
        return self.lines[y] if 0 <= y < len(self.lines) else EMPTY

    @override
    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are lines."""
        del container, viewport, width
        return len(self.lines)

    @property
    def at_end(self) -> bool:
        """Whether the last line is on the screen."""
        return self.scroll_offset.y + self.size.height >= len(self.lines)
