"""A name that nobody has: said so, with the one that was probably meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nobody(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """The line that nobody has this name.

    Args:
        name: What was said.
        names: Everybody's.
        otherwise: What follows where no single name is close.
    """
    folded: dict[str, list[str]] = {}
    for one in names:
        folded.setdefault(one.casefold(), []).append(one)
    alike = folded.get(name.casefold())
    if alike is None:
        close = get_close_matches(name.casefold(), folded, n=2, cutoff=0.75)
        alike = [one for near in close for one in folded[near]]
    more = f"is it {alike[0]}?" if len(alike) == 1 else otherwise
    return f"there is no operator named {name}" + (f"; {more}" if more else "")
