"""The one check that every holder's write passes first (rule 1).

Tokens decide, not clocks. The caller has read the lock's row under its row lock, so
what is found here stays true until the transaction ends.
"""

from core.errors import StaleHold
from core.lock import Hold, Lock, is_current


def check(hold: Hold, found: Lock, present: Lock) -> None:
    """Lets the current holder pass.

    Args:
        hold: What the writer carries.
        found: The lock as this transaction found it: a holder who lets go in this
            very transaction may still write what belongs to letting go.
        present: The lock as this transaction has made it.

    Raises:
        StaleHold: The ticket has another holder by now, or none.
    """
    if not is_current(found, hold) and not is_current(present, hold):
        message = (
            f"the hold on {hold.ticket} (token {hold.token}) is over:"
            f" the ticket has moved on to token {present.token}"
        )
        raise StaleHold(message)
