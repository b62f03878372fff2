"""What is in force at this desk, and where it is set; the theme is changed here."""

from collections.abc import Callable, Sequence

from typing_extensions import override

from console.keymap import Command, shown
from console.live import Services
from console.screens.sheet import SheetPanel
from console.settings import Section, Setting
from console.widgets.setting_lines import setting_lines
from console.widgets.sight import title_line
from console.widgets.spans import EMPTY, Line, folded
from core.decision import Operator


class SettingsPanel(SheetPanel):
    """All settings, to be read."""

    def __init__(
        self,
        services: Services,
        who: Operator,
        commands: Sequence[Command],
        other_theme: Callable[[], None],
    ) -> None:
        """Makes the panel.

        Args:
            services: What the desk works with.
            who: Who sits here, as they are now.
            commands: The person's commands: the keys that open this panel close it.
            other_theme: Changes the theme.
        """
        super().__init__()
        self.services, self.who = services, who
        self.other_theme = other_theme
        keys = {c.id: c.keys for c in commands}
        self.closing, self.theming = keys["settings"], keys["theme"]

    @override
    def on_mount(self) -> None:
        """Shows them, and names another theme as soon as there is one."""
        super().on_mount()
        self.app.theme_changed_signal.subscribe(self, lambda _: self.draw())

    @override
    def lines(self, width: int) -> Sequence[Line]:
        """The sections as they are now, the terminal's after how it was started."""
        configured = self.services.settings(self.who)
        sections = (*configured[:1], self._terminal(), *configured[1:])
        more = "as this console was started; a worker reads its own"
        head = [*folded([title_line("Settings", more)], width), EMPTY]
        return [*head, *setting_lines(sections, width - 1)]  # beside the bar

    def _terminal(self) -> Section:
        services = self.services
        key = f"{shown(self.theming[0])} here, or " if self.theming else ""
        local = services.clock.now().astimezone(services.zone)
        name, hours = str(local.tzname()), f"UTC{local:%z}"
        zone = name if name == "UTC" else f"{name}, {hours[:6]}:{hours[6:8]}"
        text = "ASCII alone" if services.ascii else "Unicode"
        settings = (
            Setting(name="theme", value=self.app.theme, where=f"{key}: and its name"),
            Setting(name="time zone", value=zone, where="TZ, or the system"),
            Setting(name="text", value=text, where="LC_ALL, LANG"),
        )
        return Section(title="This terminal", where="", settings=settings)

    @override
    def more_keys(self) -> Sequence[tuple[str, str]]:
        """The one that changes the theme."""
        return [(shown(key), " dark or light   ") for key in self.theming[:1]]

    @override
    def pressed(self, key: str) -> bool:
        """Changes the theme; scrolls, or closes."""
        if key in self.theming:
            self.other_theme()
        elif key in self.closing:
            self.dismiss(None)
        else:
            return super().pressed(key)
        return True
