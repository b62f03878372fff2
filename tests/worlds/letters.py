"""What a buyer writes, as a channel hands it in."""

from dataclasses import replace

from core.ticket import Arrival, TicketId


def letter(
    external_id: str, text: str, ticket: TicketId | None = None, **more: object
) -> Arrival:
    """A mail without files; `more` are other fields of it."""
    plain = Arrival(
        channel="mail",
        external_id=external_id,
        sender="buyer@example.com",
        subject="My order",
        text=text,
        sent_at=None,
        ticket=ticket,
        cc=(),
        in_reply_to=None,
        references=(),
        attachments=(),
        outgoing=False,
        author=None,
    )
    return replace(plain, **more)  # type: ignore[arg-type] # as the dataclass has them
