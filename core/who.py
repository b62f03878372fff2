"""A name that nobody has: said so, with the one that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.75


def nobody(
    name: str, names: Iterable[str], otherwise: str = "", *, what: str = "operator"
) -> str:
    """The line that nobody has this name.

    Args:
        name: What was said.
        names: Everybody's.
        otherwise: What follows where no single name is close.
        what: What it would be the name of.
    """
    more = is_it(name, names) or otherwise
    return f"there is no {what} named {name}" + (f"; {more}" if more else "")


def is_it(name: str, names: Iterable[str]) -> str:
    """The question after the one name that was probably meant, or ""."""
    folded: dict[str, list[str]] = {}
    for one in names:
        folded.setdefault(one.casefold(), []).append(one)
    alike = folded.get(name.casefold())
    if alike is None:
        close = get_close_matches(name.casefold(), folded, n=2, cutoff=_CLOSE)
        alike = [one for near in close for one in folded[near]]
    return f"is it {alike[0]}?" if len(alike) == 1 else ""
