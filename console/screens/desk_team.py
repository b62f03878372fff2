"""The commands about colleagues, the agent and the whole house."""

from collections.abc import Coroutine

from typing_extensions import override

from console.live import Services
from console.overview import Overview, overview
from console.screens.acts import Said
from console.screens.ask import AskPanel, PickPanel, SurePanel
from console.screens.desk_commands import DeskCommands
from console.screens.people import Change, PeoplePanel
from console.screens.replay import ReplayPanel
from console.screens.settings import SettingsPanel
from console.screens.supervisor import SupervisorPanel, Wish
from console.screens.team_acts import TeamActs
from console.widgets.choices import Choice
from console.widgets.queue import Queue
from console.widgets.spans import Line, line
from console.widgets.timeline import Timeline
from core.cleanse import one_line
from core.decision import Operator, Role
from core.history import History
from core.journal import RunChanged
from core.ports import Transaction
from core.ticket import RunId, TicketId
from core.turn import RunRecord


class DeskTeam(DeskCommands, inherit_bindings=False):
    """`_do_ID` for what concerns others too."""

    services: Services
    team: TeamActs

    @override
    def go_to(self, ticket: TicketId) -> None:
        """Shows a ticket, whichever view it is in."""
        self.query_one(Queue).select(ticket)
        self.go("timeline")

    # A ticket

    def _do_force(self) -> None:
        ticket = self.ticket()
        if ticket is not None:
            self.take_away(ticket)

    def take_away(self, ticket: TicketId) -> None:
        """Asks why, and takes a ticket from whoever has it."""

        def take(why: str) -> Coroutine[None, None, Said]:
            self.note_own(ticket)
            return self.team.force(ticket, why)

        panel = AskPanel(
            f"Take {one_line(ticket, 40)} away",
            hint="why; whoever has it is told",
            does="takes it at once",
            words="Who has it can write nothing more to it from that moment.",
        )
        self.ask_for(panel, take)

    def _do_transfer(self) -> None:
        ticket = self.ticket()
        if ticket is not None:
            self.transfer(ticket)

    def transfer(self, ticket: TicketId) -> None:
        """Asks to whom and why, and gives a colleague's ticket to somebody else."""

        def give(to: str | None) -> None:
            if to is not None:
                panel = AskPanel(
                    f"Why does {one_line(ticket, 40)} go to {one_line(to, 40)}?",
                    hint="why",
                    does="gives it",
                )
                self.ask_for(panel, lambda why: self.team.transfer(ticket, to, why))

        names = [*self.reads.people, "queue", "agent"]
        choices = [Choice(id=n, line=line(f"to {one_line(n, 40)}")) for n in names]
        panel = PickPanel(f"Transfer {one_line(ticket, 40)}", choices, "chooses")
        if not self.refuse_lost():
            self.app.push_screen(panel, give)

    def _do_decline(self) -> None:
        ticket = self.ticket()
        if ticket is None:
            return
        panel = AskPanel(
            f"Decline {one_line(ticket, 40)}",
            hint="why (may be empty)",
            does="declines it",
            words="It goes before everybody.",
            empty=True,
        )
        self.ask_for(panel, lambda why: self.team.decline(ticket, why))

    def _do_claim(self) -> None:
        ticket, standing = self.ticket(), self.standing()
        if ticket is not None and standing is not None and not self.refuse_lost():
            drop = standing.owner == self.me
            self.act(self.team.claim(ticket, drop=drop))

    def _do_whisper(self) -> None:
        ticket = self.ticket()
        if ticket is not None:
            self.whisper(ticket)

    def whisper(self, ticket: TicketId) -> None:
        """Asks for a note to the agent."""
        panel = AskPanel(
            f"Whisper to the agent on {one_line(ticket, 40)}",
            hint="what it should know or do; the buyer never sees this",
            does="whispers",
            needs="a text",
        )
        self.ask_for(panel, lambda text: self.team.whisper(ticket, text))

    def _do_pause(self) -> None:
        ticket, standing = self.ticket(), self.standing()
        if ticket is None or standing is None:
            return
        if standing.paused is not None:
            self.act(self.team.pause(ticket, on=False, why=""))
            return
        panel = AskPanel(
            f"Stop the agent on {one_line(ticket, 40)}",
            hint="why (may be empty)",
            does="stops it",
            empty=True,
        )
        self.ask_for(panel, lambda why: self.team.pause(ticket, on=True, why=why))

    # The agent's runs

    def _do_replay(self) -> None:
        history = self.history
        if history is None or not history.runs:
            return
        item = self.query_one(Timeline).item
        body = item.entry.body if item is not None else None
        here = self.pane() == "timeline" and isinstance(body, RunChanged)
        run = RunId(body.run) if here and isinstance(body, RunChanged) else None
        self.replay(run if run and history.run(run) else history.runs[-1].id)

    def replay(self, run: RunId) -> None:
        """Reads a run and shows it."""
        history = self.history
        if history is not None and not self.refuse_lost():
            self.act(self._show_run(run, history))

    async def _show_run(self, run: RunId, history: History) -> Said:
        def look(tx: Transaction) -> RunRecord | None:
            return tx.run_record(run)

        record = await self.services.store.read(look)
        if record is None:
            return Said(words="There is no such run any more", done=False)

        def another(wanted: RunId | None) -> None:
            if wanted is not None:
                self.replay(wanted)

        panel = ReplayPanel(record, history, me=self.me, zone=self.services.zone)
        self.app.push_screen(panel, another)
        return Said(words="", done=True)

    # The house

    async def _overview(self) -> Overview:
        return await overview(self.services.store, self.me, self.services.zone)

    def _do_supervisor(self) -> None:
        if not self.refuse_lost():
            self.act(self._show_house())

    async def _show_house(self) -> Said:
        seen = await self._overview()
        panel = SupervisorPanel(seen, self.sight, supervisor=self.supervises)
        self.app.push_screen(panel, self._wished)
        return Said(words="", done=True)

    async def renew_house(self) -> Said:
        """Keeps an open overview fresh."""
        seen = await self._overview()
        panel = self.app.screen
        if isinstance(panel, SupervisorPanel):
            panel.renew(seen)
        return Said(words="", done=True)

    def _wished(self, wish: Wish | None) -> None:
        if wish is None:
            return
        acts = {
            "open": self.go_to,
            "force": self.take_away,
            "transfer": self.transfer,
            "whisper": self.whisper,
        }
        if wish.ticket is not None:
            acts[wish.what](wish.ticket)
        elif wish.what == "pause":
            self._do_pause_all()

    def _do_pause_all(self) -> None:
        if self.reads.pause is not None:
            panel = SurePanel(
                [line(("Let the agent go on everywhere?", "strong"))],
                "lets it go on",
                "nothing was resumed",
            )
            self.app.push_screen(panel, self._resume_all)
            return
        ask = AskPanel(
            "Stop the agent everywhere",
            hint="why; everybody sees it",
            does="stops it",
            words="No new run starts; those at work stop at their next boundary.",
        )
        self.ask_for(ask, lambda why: self.team.pause(None, on=True, why=why))

    def _resume_all(self, sure: bool | None) -> None:  # noqa: FBT001 # Textual's own form
        if sure:
            self.act(self.team.pause(None, on=False, why=""))

    def _do_people(self) -> None:
        if not self.refuse_lost():
            self.act(self._show_people())

    def _do_settings(self) -> None:
        panel = SettingsPanel(self.services, self.person, self.commands, self._do_theme)
        self.app.push_screen(panel)

    async def _show_people(self) -> Said:
        seen = await self._overview()
        panel = PeoplePanel(seen, supervisor=self.supervises)

        def changed(change: Change | None) -> None:
            if change is not None:
                self._change(change, seen)

        self.app.push_screen(panel, changed)
        return Said(words="", done=True)

    def _change(self, change: Change, seen: Overview) -> None:
        if change.what == "add":
            panel = AskPanel(
                "Who works here now?",
                hint="their name",
                does="adds them",
                needs="a name",
                wrong=lambda name: _taken(name, seen),
            )
            self.ask_for(panel, self.team.add)
            return
        who = next((o for o in seen.people if o.name == change.name), None)
        if who is None:
            return
        name = one_line(who.name, 40)
        other = Role.AGENT if who.role is Role.SUPERVISOR else Role.SUPERVISOR
        work = change.what == "work"
        words = f"makes {name} {other.value}"
        if work:
            again = f"lets {name} work here again"
            words = again if who.disabled else f"disables {name}"

        def answer(sure: bool | None) -> None:  # noqa: FBT001 # Textual's own form
            if sure and work:
                self.act(self.team.let_work(who.name, on=who.disabled))
            elif sure:
                self.act(self.team.give_role(who.name, other))

        lines = [line((name, "strong")), *self._follows(who, change.what)]
        panel_ = SurePanel(lines, words, "nobody was changed")
        self.app.push_screen(panel_, answer)

    def _follows(self, who: Operator, what: str) -> list[Line]:
        """What else a change of somebody does, in lines."""
        said = []
        if what == "work" and not who.disabled:
            said.append("What they hold goes back to the queue.")
        if who.name == self.me:
            said.append("That is you: another supervisor must undo it.")
        return [line((words, "wait")) for words in said]


def _taken(name: str, seen: Overview) -> str | None:
    """Why nobody can be added under a name."""
    there = any(o.name == name for o in seen.people)
    return f"{one_line(name, 40)} works here already" if there else None
