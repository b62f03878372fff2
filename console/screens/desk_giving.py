"""Letting a ticket go, and what can be taken back: a reply, or a discarded draft."""

from collections.abc import Coroutine
from dataclasses import replace

from console.screens.acts import Said
from console.screens.desk_deciding import DeskDeciding
from console.screens.give_back import (
    SLEEP,
    Answer,
    GiveBackPanel,
    Sleep,
    Write,
)
from core.flows.drafts import words_for
from core.flows.giving_back import GiveBack
from core.history import History, Reply
from core.ticket import TicketId


class DeskGiving(DeskDeciding, inherit_bindings=False):
    """`_do_ID` for giving back, discarding and undoing."""

    def __init__(self) -> None:
        super().__init__()
        self.leaving_notes: dict[TicketId, str] = {}

    def _do_snooze(self) -> None:
        ticket, standing = self.ticket(), self.standing()
        if ticket is None or standing is None:
            return
        self.keep_written()
        if standing.held_by == self.me and self.drafts.unsent_on(ticket):
            self._let_go(at=SLEEP)  # where what is not sent can be discarded
        else:
            self.ask_until(ticket)

    def _do_give_back(self) -> None:
        self._let_go()

    def _let_go(self, at: str = "") -> None:
        history = self.history
        if history is None or self.refuse_lost():
            return
        self.keep_written()
        ticket = history.ticket.id
        panel = GiveBackPanel(
            ticket,
            names=[name for name in self.reads.people if name != self.me],
            workers=self.reads.workers or 0,
            unread=bool(history.standing.unanswered),
            seen=history.standing.last_seq,
            withheld=len(history.standing.withheld),
            drafts=self.drafts.unsent_on(ticket),
            notes=self.leaving_notes,
            at=at,
        )

        def given(answer: Answer) -> Coroutine[None, None, Said] | None:
            return self._given(panel, history, answer)

        self.open_for(panel, given)

    def _given(
        self, panel: GiveBackPanel, history: History, answer: Answer
    ) -> Coroutine[None, None, Said] | None:
        ticket = history.ticket.id
        match answer:
            case Write(mode=mode):
                panel.stored()
                self._go_on_with(history, mode)
                return None
            case Sleep(note=note, discard=discard):

                def asleep(said: Said) -> None:
                    if said.done:
                        self.leaving_notes.pop(ticket, None)

                panel.stored()
                self.ask_until(ticket, note, discard=discard, then=asleep)
                return None
            case GiveBack():
                self.note_own(ticket)
                self.leave_composer()
                return self._give(history, answer)

    def _go_on_with(self, history: History, mode: str) -> None:
        """Goes on with an unsent text, where it stands.

        Words for a reply that is not withheld any more are a reply of their own.
        """
        ticket, seen = history.ticket.id, history.standing.last_seq
        caught = [words_for(r.seq) for r in history.outbox if r.state == "withheld"]
        if mode not in {"reply", "note", *caught}:
            self.drafts.write(ticket, "reply", self.drafts.text(ticket, mode), seen)
            self.drafts.write(ticket, mode, "", seen)
            self.save_soon()
            self.run_command("reply")
        else:
            self.run_command("withheld" if mode in caught else mode)

    async def _give(self, history: History, how: GiveBack) -> Said:
        await self.keep_drafts()
        said = await self.acts.give_back(history.ticket.id, how)
        if said.done:
            self.leaving_notes.pop(history.ticket.id, None)
        if said.done and how.discard:
            self.drafts.discarded(history.ticket.id)
            self.composer_again()
        return said

    # What was written

    def _do_discard(self) -> None:
        history = self.history
        if history is not None and not self.refuse_lost():
            self.act(self._discard(history))

    async def _discard(self, history: History) -> Said:
        await self.keep_drafts()
        said = await self.acts.discard(history.ticket.id)
        if said.done:
            self.drafts.discarded(history.ticket.id)
            self.composer_again()
            key = self.keys["undo"]
            back = f" · {key} brings it back" if key else ""
            return replace(said, words=f"{said.words}{back}")
        return said

    def _do_undo(self) -> None:
        reply = self.undoable()
        if self.refuse_lost():
            return
        if reply is not None:
            self.act(self._take_back(reply))
        elif self.history is not None and self.restorable():
            self.drafts.restore(self.history.ticket.id)
            self.composer_again()
            self.act(self._brought_back())

    async def _brought_back(self) -> Said:
        kept = (await self.keep_drafts()).done
        return Said(words="What you discarded is back" if kept else "", done=kept)

    async def _take_back(self, reply: Reply) -> Said:
        self.note_own(reply.ticket)
        said, text = await self.acts.unsend(reply.ticket, reply.seq)
        self.keep_written()
        if text and not self.drafts.text(reply.ticket, "reply").strip():
            self.drafts.write(reply.ticket, "reply", text, self.writing_seen)
            self.composer_again()
        return said
