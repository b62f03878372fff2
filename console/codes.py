"""Exit codes, and which one an error is worth: the same for every command.

0 done, 1 refused by a rule, 2 usage or configuration, 3 the store or a server can't be
reached, 130 interrupted.
"""

from core.errors import (
    BadConfiguration,
    DeliveryFailed,
    HandoffError,
    ModelFailed,
    NotAdmitted,
    StoreTooNew,
    StoreUnreachable,
    ToolLost,
    UnknownTicket,
)

REFUSED, USAGE, UNREACHABLE, INTERRUPTED = 1, 2, 3, 130


def code_of(wrong: HandoffError) -> int:
    """The exit code that an error is worth, wherever it shows."""
    match wrong:
        case BadConfiguration() | StoreTooNew() | UnknownTicket():
            return USAGE
        case ModelFailed(kind="refused_key"):
            return USAGE
        case NotAdmitted():
            return REFUSED
        case StoreUnreachable() | ToolLost() | ModelFailed() | DeliveryFailed():
            return UNREACHABLE
        case _:
            return REFUSED
