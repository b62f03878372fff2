"""The commands of a holder besides writing: tools, doubts, identity, triage, state."""

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping

from console.measures import money
from console.screens.acts import Said, told
from console.screens.ask import AskPanel, PickPanel
from console.screens.card import CarryOutPanel
from console.screens.desk_finding import DeskFinding
from console.screens.notices import NoticingApp
from console.screens.panel import SLOW
from console.screens.tool_form import ToolPanel
from console.screens.work_acts import WorkActs
from console.widgets.choices import Choice
from console.widgets.spans import line
from core.builtin import CATEGORIES, PRIORITIES
from core.cleanse import one_line
from core.decision import READY, Decision, approvers
from core.history import History
from core.ledger import ActionState
from core.ticket import JsonObject, TicketId
from core.tool import ToolSpec

_ASKING = "Asking the tool servers…"

_LONGEST = 600.0
"""Seconds for which that is told at most; it is taken back once they have answered."""


class DeskWorking(DeskFinding, inherit_bindings=False):
    """`_do_ID` for what a holder does."""

    work: WorkActs

    def _pick(
        self, title: str, choices: list[Choice], then: Callable[[str], None]
    ) -> None:
        def answer(choice: str | None) -> None:
            if choice is not None:
                then(choice)

        if not self.refuse_lost():
            self.app.push_screen(PickPanel(title, choices, "chooses"), answer)

    # Tools

    def _do_act(self) -> None:
        ticket = self.ticket()
        if ticket is not None and not self.refuse_lost():
            self.act(told(self._choose_tool, ticket))

    async def _choose_tool(self, ticket: TicketId) -> Said:
        if self.services.tools is None:
            return Said(words="No tool server is configured", done=False)
        tools = await self._offered(self.services.tools)
        history = await self._newest(ticket)
        ready = {d.id: d for d in history.decisions if d.state in READY}
        choices = [
            *(_approved(decision) for decision in ready.values()),
            *(
                Choice(id=name, line=line(one_line(name, 40), (_does(spec), "dim")))
                for name, spec in sorted(tools.items())
            ),
        ]

        def chosen(name: str) -> None:
            if name in ready:
                self._carry_out(ready[name], history)
            else:
                self._fill_in(ticket, tools[name], history)

        title = f"Use a tool on {one_line(ticket, 40)}"
        self._pick(title, choices, chosen)
        return Said(words="", done=True)

    async def _offered(
        self, ask: Callable[[], Awaitable[Mapping[str, ToolSpec]]]
    ) -> Mapping[str, ToolSpec]:
        """The tools; that their servers are asked is told only while one waits."""
        asking = self.set_timer(SLOW, lambda: self.tell(_ASKING, lasts=_LONGEST))
        try:
            return await ask()
        finally:
            asking.stop()
            if isinstance(self.app, NoticingApp):
                self.app.untell(_ASKING)

    def _carry_out(self, decision: Decision, history: History) -> None:
        """Shows an approved decision whole, and executes it once that is wanted."""

        def answer(sure: bool | None) -> None:  # noqa: FBT001 # Textual's own form
            if sure:
                self.act(self.work.execute(history.ticket.id, decision))

        panel = CarryOutPanel(decision, history, self.sight)
        self.app.push_screen(panel, answer)

    async def _newest(self, ticket: TicketId) -> History:
        """What is stored now: a row may know more than the chart that was read."""
        return await self.services.store.read(lambda tx: tx.history(ticket))

    def _fill_in(self, ticket: TicketId, spec: ToolSpec, history: History) -> None:
        def use(given: JsonObject) -> Coroutine[None, None, Said]:
            self.tell(f"Using {one_line(spec.name, 40)}…")
            return self.work.use(ticket, spec.name, given)

        self.open_for(ToolPanel(spec, history), use)

    def _do_settle(self) -> None:
        ticket = self.ticket()
        if ticket is not None and not self.refuse_lost():
            self.act(told(self._choose_doubt, ticket))

    async def _choose_doubt(self, ticket: TicketId) -> Said:
        history = await self._newest(ticket)
        doubts = [a for a in history.actions if a.state is ActionState.IN_DOUBT]
        choices = [
            Choice(
                id=f"{word} {action.id}",
                line=line(
                    (f"{one_line(action.tool, 30)} ", "strong"),
                    f"{money(action.amount, action.currency)} {words}",
                    (f"  {one_line(action.key, 60)}", "dim"),
                ),
            )
            for action in doubts
            for word, words in (("did", "was carried out"), ("not", "was not"))
        ]

        def chosen(choice: str) -> None:
            word, _, action = choice.partition(" ")
            panel = AskPanel(
                f"How do you know of {one_line(action, 40)}?",
                hint="what its provider says",
                does="settles it",
                needs="evidence",
            )
            self.ask_for(
                panel,
                lambda text: self.work.settle(
                    ticket, action, happened=word == "did", evidence=text
                ),
            )

        self._pick("What became of it?", choices, chosen)
        return Said(words="", done=True)

    # Who the buyer is, and what the ticket is about

    def _do_identity(self) -> None:
        ticket = self.ticket()
        if ticket is None:
            return

        def customer(name: str) -> None:
            panel = AskPanel(
                f"What shows that it is {one_line(name, 60)}?",
                hint="the evidence; it is kept",
                does="records it",
                needs="evidence",
            )
            self.ask_for(panel, lambda why: self.work.verify(ticket, name, why))

        def chosen(choice: str) -> None:
            if choice == "record":
                panel = AskPanel(
                    "Which customer is writing?",
                    hint="the customer's id in the shop",
                    does="goes on",
                    needs="a customer's id",
                )
                self._ask_first(panel, customer)
                return
            panel = AskPanel(
                "Why is nobody verified any more?",
                hint="why; what rested on it is not executed",
                does="revokes it",
            )
            self.ask_for(panel, lambda why: self.work.verify(ticket, "", why))

        choices = [
            Choice(id="record", line=line("record who is writing")),
            Choice(id="revoke", line=line("revoke: it is not proven")),
        ]
        self._pick("Who is the buyer?", choices, chosen)

    def _do_triage(self) -> None:
        ticket = self.ticket()
        if ticket is None:
            return

        def category(chosen: str) -> None:
            choices = [Choice(id=p, line=line(p)) for p in PRIORITIES]
            self._pick(
                f"How urgent is {chosen}?",
                choices,
                lambda priority: self.act(self.work.triage(ticket, chosen, priority)),
            )

        choices = [Choice(id=c, line=line(c)) for c in CATEGORIES]
        self._pick("What is it about?", choices, category)

    def _do_state(self) -> None:
        ticket = self.ticket()
        if ticket is None:
            return

        def amend(text: str) -> Coroutine[None, None, Said]:
            return self.work.state(ticket, _patch(text) or {})  # as the panel saw to

        panel = AskPanel(
            "Amend what the agent works with",
            hint='order = SU-1 · waits_for = · or JSON {"order": "SU-1"}',
            does="amends it",
            words="A field without a value is removed.",
            needs="a field",
            wrong=_no_patch,
        )
        self.ask_for(panel, amend)


def _approved(decision: Decision) -> Choice:
    amount = money(*decision.moves)
    by = one_line(approvers(decision), 50)
    return Choice(
        id=decision.id,
        line=line(
            ("✓ ", "ok"),
            (f"execute {one_line(decision.tool, 30)} {amount} ", "strong"),
            (f"{one_line(decision.id, 20)}, approved by {by}", "dim"),
        ),
    )


def _does(spec: ToolSpec) -> str:
    """The first line of what its server says of it; the rest is the model's."""
    said = next(filter(str.strip, spec.description.splitlines()), "")
    return f"  {one_line(said, 60)}"


def _no_patch(text: str) -> str | None:
    """Why a line amends nothing."""
    said = one_line(text, 24)
    return None if _patch(text) is not None else f"“{said}” is no field = value"


def _patch(text: str) -> "JsonObject | None":
    """What a line amends: JSON, or `field = value`."""
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
        except ValueError:
            return None
        return given if isinstance(given, Mapping) else None
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        return None
    return {name.strip(): value.strip() or None}
