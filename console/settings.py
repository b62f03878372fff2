"""What is in force, as data: sections of settings, each with where it is set."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One of them, in words.

    Attributes:
        name: What it is called; foreign names cleansed.
        value: What holds, cleansed; never a secret.
        where: What sets it, where that is not the same for its whole section.
    """

    name: str
    value: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Settings that belong together.

    Attributes:
        title: What they are about.
        where: The file and the table that they are set in, or "".
        settings: In the order in which they are shown.
    """

    title: str
    where: str
    settings: tuple[Setting, ...]
