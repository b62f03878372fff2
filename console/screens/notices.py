"""Notices, of which the newest alone is shown, and what lies under the one before.

The library may lose track of the cells of a notice that gives way to another (8.2.8:
a scroll of its rack makes the compositor forget where the old one was): they would stay
on the terminal until somebody else paints there. So the rows of notices are painted
again shortly after one came, and once it has gone.

Each screen shows all notices, also where another lies above it: so that nothing is told
twice, the one on top shows them alone.
"""

from textual.app import App
from textual.geometry import Region
from textual.notifications import SeverityLevel
from typing_extensions import override

_AFTER = (0.05, 0.15)
"""Seconds after which another notice has taken the place of the one before."""

_GONE = 0.1
"""Seconds after its end in which a notice has gone."""

_TOP = 4
"""Rows at the top among which the one of the notices is, where it is not the last."""


class NoticingApp(App[None], inherit_bindings=False):
    """An app on whose screen nothing is left of a notice."""

    @override
    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tells something; leaves nothing of what was told before."""
        super().notify(
            message, title=title, severity=severity, timeout=timeout, markup=markup
        )
        ends = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        for after in (*_AFTER, ends + _GONE):
            self.set_timer(after, self._paint_under_notices)

    def untell(self, words: str) -> None:
        """Takes back what was told for as long as something went on."""
        for told in [n for n in self._notifications if n.message == words]:
            self._unnotify(told)
        self.set_timer(_GONE, self._paint_under_notices)

    @override
    def _refresh_notifications(self) -> None:
        for screen in self.screen_stack[:-1]:
            for rack in screen.query("ToastRack"):
                rack.display = False
        super()._refresh_notifications()

    def _paint_under_notices(self) -> None:
        for screen in self.screen_stack[-1:]:  # none once the app has ended
            width, height = screen.size
            screen.refresh(
                Region(0, 0, width, min(_TOP, height)), Region(0, height - 1, width, 1)
            )
