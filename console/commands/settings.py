"""`handoff settings`: what is in force, as the desk's settings show it."""

import shutil
from collections.abc import Sequence

import click

from console import wiring
from console.commands import base, opened, options
from console.settings import Section
from console.shapes_values import Shape
from console.widgets.setting_lines import setting_lines
from console.widgets.spans import plain


@click.command(cls=options.Command)
def settings() -> None:
    """Show what is in force, and where each setting is made."""

    async def work() -> Sequence[Section]:
        async with opened.at_desk() as desk:
            return wiring.settings(desk.config, desk.store, desk.me)

    sections = base.run(work())
    width = shutil.get_terminal_size((100, 24)).columns
    base.show(_document(sections), lambda: plain(setting_lines(sections, width)))


def _document(sections: Sequence[Section]) -> list[Shape]:
    return [
        {
            "section": section.title,
            "name": setting.name,
            "value": setting.value,
            "where": setting.where or section.where,
        }
        for section in sections
        for setting in section.settings
    ]
