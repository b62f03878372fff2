"""The few errors of the core, each with the rule or protocol it belongs to.

Expected outcomes (held by a colleague, already decided) are returned values; these
classes are for what a caller cannot answer with another value. `str(error)` is one
plain line that may be shown to a person and never holds a secret or a message text.
"""


class HandoffError(Exception):
    """Something that a person is told in one line."""


class StaleHold(HandoffError):
    """The hold is no longer the ticket's current one: nothing was written (rule 1)."""


class UnknownTicket(HandoffError):
    """There is no such ticket in this store."""


class StoreUnreachable(HandoffError):
    """The store can't be reached or can't be written: nothing was changed."""


class StoreReplaced(StoreUnreachable):
    """The store's file was removed or replaced: put it back, or start again."""


class NotAdmitted(StoreUnreachable):
    """The database lets this login not do it: who works here says a supervisor."""


class UnfitName(HandoffError):
    """The store's database can have no login of this name: nothing was changed."""


class StoreTooNew(HandoffError):
    """The store was written by a newer program; this one refuses to touch it."""


class BadConfiguration(HandoffError):
    """A setting is wrong: names the file, the key and what was expected."""


class ModelFailed(HandoffError):
    """The model gave no usable answer (protocol "A run", rule 15).

    Attributes:
        kind: What failed, for the run's decision: `unreachable`, `overloaded`,
            `rate_limited`, `overflow`, `refused_key`, `no_system_role`,
            `bad_request` or `garbage`.
        retry_after: Seconds that the provider asked to wait, where it said so.
        place: Of a bad request: which of its messages is refused, and which block of
            it (None: no one block), where the provider named them; both from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retry_after: float | None = None,
        place: tuple[int, int | None] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.place = place


class ToolLost(HandoffError):
    """A tool call got no answer: time-out, broken connection, dead server (rule 5).

    Attributes:
        started: False where the request surely never reached the server.
        said: The last line that its program said before it died at its start, for
            whoever looks after it; never for a log.
    """

    def __init__(self, message: str, *, started: bool, said: str = "") -> None:
        super().__init__(message)
        self.started = started
        self.said = said


class DeliveryFailed(HandoffError):
    """A channel did not take a reply (protocol "Delivery").

    Attributes:
        permanent: True where trying again can't help.
    """

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent
