"""When the demo's buyers write: a schedule that is a pure function of time and answers.

Nothing is remembered here. `Story.due` gives every message that would have been sent
by now, each with an id that never changes, and ingesting a message twice stores it
once; so a demo that is stopped and started again goes on where it was.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from console.demo.story_data import TALES, Said, Tale


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All buyers of the demo from one starting time on.

    Attributes:
        start: when the demo store was made; give the same one after a restart, since
            a message's `sent_at` counts from it.
        round: 0, and one more to let the same buyers write again on new tickets.
        tales: the buyers' stories; one ticket each.
    """

    start: datetime
    round: int = 0
    tales: tuple[Tale, ...] = TALES

    def due(
        self,
        elapsed: float,
        answered: Mapping[str, int],
        sent: Container[str] = (),
    ) -> list[dict[str, object]]:
        """Give the lines to ingest, in the order in which they were written.

        Args:
            elapsed: seconds since `start`.
            answered: by a tale's key, how many replies its buyer has got; a key that
                is not there has none.
            sent: external ids to leave out since they were handed in before.
        """
        found = [
            (said.at, tale.key, number)
            for tale in self.tales
            for number, said in enumerate(_spoken(tale, elapsed, answered))
        ]
        tales = {tale.key: tale for tale in self.tales}
        return [
            self._line(tales[key], number)
            for _, key, number in sorted(found)
            if self.external_id(key, number) not in sent
        ]

    def external_id(self, key: str, number: int) -> str:
        """Give the id of a tale's message; `number` counts from 0."""
        return f"<sundry-{self.round}-{key}-{number}@mail.example.com>"

    def key_of(self, external_id: str) -> str | None:
        """Give the tale that a message id belongs to; None if of another round."""
        head, tail = f"<sundry-{self.round}-", "@mail.example.com>"
        if not (external_id.startswith(head) and external_id.endswith(tail)):
            return None
        return external_id[len(head) : -len(tail)].rpartition("-")[0]

    def length(self) -> float:
        """Give the seconds after which nobody writes unless answered."""
        return max(said.at for tale in self.tales for said in tale.said)

    def _line(self, tale: Tale, number: int) -> dict[str, object]:
        said = tale.said[number]
        before = [self.external_id(tale.key, earlier) for earlier in range(number)]
        line: dict[str, object] = {
            "external_id": self.external_id(tale.key, number),
            "channel": "mail",
            "from": tale.sender,
            "subject": f"Re: {tale.subject}" if before else tale.subject,
            "text": said.text,
            "sent_at": (self.start + timedelta(seconds=said.at)).isoformat(),
        }
        if before:
            line |= {"in_reply_to": before[-1], "references": before}
        if said.attachments:
            line["attachments"] = [
                {"name": one.name, "type": one.type, "size": one.size}
                for one in said.attachments
            ]
        return line


def _spoken(tale: Tale, elapsed: float, answered: Mapping[str, int]) -> list[Said]:
    got, spoken = answered.get(tale.key, 0), []
    for said in tale.said:
        # nobody says the third thing before the second
        if said.at > elapsed or said.answers > got:
            break
        spoken.append(said)
    return spoken
