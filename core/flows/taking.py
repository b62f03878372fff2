"""A run takes a due ticket: the lock, the run's row and its journal entry, in one."""

from dataclasses import replace
from datetime import datetime

from core.builtin import BUILTINS
from core.context import BUILDER, build_request, tool_definitions
from core.flows.act import all_specs
from core.flows.ending import escalate
from core.flows.holding import seat
from core.flows.house import House, Work, at_work
from core.history import History
from core.journal import LockChanged, RunChanged
from core.lock import Acquired, Holder, HolderKind, Lease, PassedOn, acquire_for_run
from core.ports import Transaction
from core.ticket import Origin, RunId, TicketId, agent
from core.tool import ToolSpec
from core.turn import Run, Stop


def take(
    tx: Transaction, house: House, ticket: TicketId, specs: tuple[ToolSpec, ...]
) -> Work | None:
    """Takes the lock for a new run, if the ticket is due and free.

    Returns:
        The run at work, or None where there is nothing for it to do here.
    """
    history = tx.history(ticket)
    if history.stopped is not None or history.standing.paused is not None:
        return None
    live = history.ticket.origin is Origin.LIVE
    if not live or not (history.standing.due or history.standing.run is not None):
        return None
    run = RunId(house.ids.new("R"))
    holder = Holder(kind=HolderKind.RUN, name=run)
    lease = Lease(length=house.limits.lease)
    granted = acquire_for_run(history.lock, holder, tx.now, lease)
    match granted:
        case Acquired():
            pass
        case PassedOn():
            seat(tx, history, granted)
            return None
        case _:
            return None
    seat(tx, history, granted)
    work = at_work(
        tx,
        granted.lock.hold,
        agent(run),
        all_specs(specs),
        run=run,
        hold_off=house.limits.hold_off_agent,
    )
    tx.start_run(work.hold, _new_run(tx.now, house, work, history, specs))
    tx.append_as(work.hold, agent(run), RunChanged(run=run, change="started"))
    if _keeps_crashing(tx.history(ticket).runs):
        why = f"{_CRASHES} runs in a row ended without a word"
        escalate(tx, work, tx.history(ticket), Stop.ERROR, why)
        return None
    return work


_CRASHES = 5
"""So many runs of a ticket in a row may die; then people look (rule 15)."""


def _keeps_crashing(runs: tuple[Run, ...]) -> bool:
    before = [r.stop for r in runs if r.stop is not None][-_CRASHES:]
    return before == [Stop.CRASHED] * _CRASHES


def _new_run(
    now: datetime,
    house: House,
    work: Work,
    history: History,
    specs: tuple[ToolSpec, ...],
) -> Run:
    tools = tool_definitions((*BUILTINS, *specs))
    draft = build_request(
        replace(history, journal=()),
        house.prompt,
        tools,
        house.limits,
        model=house.model_id,
        voice=house.voice,
    )
    return Run(
        id=work.run,
        ticket=work.hold.ticket,
        token=work.hold.token,
        trigger=_trigger(history),
        model=house.model_id,
        prompt=house.prompt,
        system=draft.system,
        tools=tools,
        max_tokens=house.limits.max_output_tokens,
        builder=BUILDER,
        staff_voice=house.voice.value,
        started_at=now,
    )


def _trigger(history: History) -> str:
    """Why the run starts, in one word."""
    s = history.standing
    if history.lock.holder is not None:
        return "recovery"
    asked = s.last_buyer_seq if s.unanswered else 0
    if asked > s.attended_seq:
        return "message"
    woken = next((e.body for e in history.journal if e.seq == s.wake_seq), None)
    return "release" if isinstance(woken, LockChanged) else "decision"
