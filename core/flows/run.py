"""A run of the agent on one ticket, from taking the lock to giving it back.

    take → (ask the model → apply its answer | carry out a call)* → give back

Every arrow is a stored step. After each the flow asks `boundary.next_step` what comes
next, of the records alone, so that another process can go on wherever this one ends
(rule 8). What is decided and what follows from it lie in one transaction: the answer,
the reply in the outbox and the check-and-release (rule 3) are one commit.

Two things run beside it: the lease is renewed at a third of its length by a task of
its own, and if that can't be done in time the run stops before its next side effect
(rule 11); and while the model thinks, the feed is watched, so that the call is
cancelled the moment somebody wants the ticket (protocol "Take over").
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from core.boundary import (
    AwaitDecision,
    CarryOut,
    Continue,
    Escalate,
    Execute,
    HandOver,
    Release,
    next_step,
)
from core.builtin import BUILTINS
from core.context import (
    BUILDER,
    build_request,
    canonical_message,
    estimated_tokens,
    tool_definitions,
)
from core.errors import ModelFailed, StaleHold, ToolLost
from core.flows.act import all_specs, carry_out, execute
from core.flows.asking import Answer, Interrupted, ask_model, keep_lease
from core.flows.holding import seat, withhold
from core.flows.house import House, Work
from core.flows.speak import say
from core.history import History
from core.journal import (
    Escalated,
    LockChanged,
    RunChanged,
    ToolCalled,
    ToolReturned,
)
from core.lock import (
    Acquired,
    HandedOver,
    Holder,
    HolderKind,
    Lease,
    Lost,
    PassedOn,
    Released,
    acquire_for_run,
    hand_over,
    is_current,
    release,
)
from core.plan import Calls, Reply, Silence, Unusable, plan
from core.ports import Feed, RunEnd, Transaction
from core.stretch import begun, ended
from core.ticket import Origin, RunId, TicketId, agent, system
from core.tool import ToolSpec
from core.turn import ModelResponse, Request, Run, Stop, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """The model is to be asked this, as stored."""

    request: Request
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    """The run has ended; the lock is somebody else's or free."""

    stop: Stop


_Step: TypeAlias = _Ask | CarryOut | Execute | _Over


async def work(
    house: House, ticket: TicketId, feed: Feed, stopping: asyncio.Event
) -> Stop | None:
    """Runs the agent on a ticket until there is nothing left for it to do.

    Args:
        house: The ports and numbers.
        ticket: The ticket.
        feed: The worker's change feed.
        stopping: Set when the worker is to end: the run gives the ticket back at its
            next boundary.

    Returns:
        Why the run ended, or None where the ticket was not free or not due.
    """
    specs, problem = await _tools(house)
    taken = await house.store.write(lambda tx: _take(tx, house, ticket, specs))
    if taken is None:
        return None
    if problem is not None:
        why = problem
        over = await house.store.write(lambda tx: _without_tools(tx, taken, why))
        return over.stop
    stop = Stop.CRASHED
    try:
        async with asyncio.TaskGroup() as together:
            keeper = together.create_task(keep_lease(house, taken.hold))
            stop = await _go_on(house, taken, feed, stopping)
            keeper.cancel()
    except* StaleHold:
        pass  # whoever has the ticket now has written how this run ended
    return stop


async def _tools(house: House) -> tuple[tuple[ToolSpec, ...], str | None]:
    """The servers' tools, or why there are none."""
    try:
        return await house.tools.specs(), None
    except ToolLost as lost:
        return (), str(lost)


async def _go_on(
    house: House, taken: Work, feed: Feed, stopping: asyncio.Event
) -> Stop:
    step = await house.store.write(lambda tx: _advance(tx, house, taken))
    while True:
        match step:
            case _Over(stop=stop):
                return stop
            case CarryOut(call=call):
                await carry_out(house, taken, call)
                step = await house.store.write(lambda tx: _advance(tx, house, taken))
            case Execute(decision=decision):
                await execute(house, taken, decision)
                step = await house.store.write(lambda tx: _advance(tx, house, taken))
            case _Ask() as ask:
                answer = await ask_model(house, taken.hold, ask.request, feed, stopping)
                step = await house.store.write(
                    _applying(house, taken, ask.number, answer)
                )


def _applying(
    house: House, taken: Work, number: int, answer: Answer
) -> Callable[[Transaction], _Step]:
    return lambda tx: _apply(tx, house, taken, number, answer)


def _without_tools(tx: Transaction, taken: Work, why: str) -> _Over:
    history = tx.history(taken.hold.ticket)
    return _escalate(tx, taken, history, Stop.ERROR, why)


# Taking the lock


def _take(
    tx: Transaction, house: House, ticket: TicketId, specs: tuple[ToolSpec, ...]
) -> Work | None:
    history = tx.history(ticket)
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
    work = Work(hold=granted.lock.hold, run=run, specs=all_specs(specs))
    tx.start_run(work.hold, _new_run(tx.now, house, work, history, specs))
    tx.append_as(work.hold, agent(run), RunChanged(run=run, change="started"))
    if _keeps_crashing(tx.history(ticket).runs):
        why = f"{_CRASHES} runs in a row ended without a word"
        _escalate(tx, work, tx.history(ticket), Stop.ERROR, why)
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


# One boundary: what comes next, and the transaction that does it


def _advance(tx: Transaction, house: House, taken: Work) -> _Step:
    history = tx.history(taken.hold.ticket)
    run = _own(history, taken)
    step = next_step(history, run, house.limits)
    match step:
        case CarryOut() | Execute():
            return step
        case HandOver():
            return _hand_over(tx, taken, history)
        case AwaitDecision():
            return _end(tx, taken, history, Stop.AWAITING_DECISION)
        case Release():
            return _end(tx, taken, history, Stop.ANSWERED)
        case Escalate(stop=stop, why=why):
            return _escalate(tx, taken, history, stop, why)
        case Continue(unrun=unrun):
            for call, told in unrun:
                result = ToolReturned(id=call.id, content=told, is_error=True)
                history = history.plus(tx.append_as(taken.hold, taken.actor, result))
            return _request(tx, house, taken, history)


def _own(history: History, taken: Work) -> Run:
    run = history.run(taken.run)
    if run is None or not is_current(history.lock, taken.hold):
        raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    return run


def _request(
    tx: Transaction, house: House, taken: Work, history: History
) -> _Ask | _Over:
    """Builds the request, stores it as it will be sent, and asks for it."""
    run = _own(history, taken)
    request = build_request(
        history,
        run.prompt,
        run.tools,
        replace(house.limits, max_output_tokens=run.max_tokens),
        model=run.model,
        voice=house.voice,
    )
    size = estimated_tokens(request)
    if size > house.limits.context_tokens:
        why = f"the conversation has grown to about {size} tokens"
        return _escalate(tx, taken, history, Stop.ERROR, why)
    number = len(run.turns) + 1
    turn = Turn(
        number=number,
        built_at=history.standing.last_seq,
        upto=len(request.messages),
        requested_at=tx.now,
    )
    sent = [canonical_message(m) for m in request.messages]
    tx.store_request(taken.hold, taken.run, turn, sent)
    made = RunChanged(run=taken.run, change="turn", turn=number)
    tx.append_as(taken.hold, taken.actor, made)
    return _Ask(request=request, number=number)


def _apply(
    tx: Transaction, house: House, taken: Work, number: int, answer: Answer
) -> _Step:
    """Stores the model's answer with all that follows from it, in one transaction."""
    history = tx.history(taken.hold.ticket)
    run = _own(history, taken)
    stopped = history.lock.wanted_by is not None
    stopped = stopped or history.standing.with_people is not None
    if isinstance(answer, ModelResponse):
        tx.store_response(taken.hold, taken.run, number, answer, applied=not stopped)
    if stopped:
        return _advance(tx, house, taken)
    match answer:
        case Interrupted():
            return _end(tx, taken, history, Stop.PAUSED, detail="the worker stopped")
        case ModelFailed() as failed:
            return _escalate(tx, taken, history, Stop.ERROR, str(failed))
        case ModelResponse() as response:
            return _carry(tx, house, taken, history, run, response)


def _carry(
    tx: Transaction,
    house: House,
    taken: Work,
    history: History,
    run: Run,
    response: ModelResponse,
) -> _Step:
    planned = plan(response, history)
    match planned:
        case Unusable(stop=stop, why=why):
            return _escalate(tx, taken, history, stop, why)
        case Reply(text=text, entries=entries):
            for body in entries:
                tx.append_as(taken.hold, taken.actor, body)
            seen = run.turns[-1].built_at
            say(tx, taken.hold, history, taken.actor, text, seen)
        case Calls(entries=entries) | Silence(entries=entries):
            for body in entries:
                tx.append_as(taken.hold, taken.actor, body)
    return _advance(tx, house, taken)


# Ending


def _hand_over(tx: Transaction, taken: Work, history: History) -> _Over:
    outcome = hand_over(history.lock, taken.hold, tx.now)
    if isinstance(outcome, Lost):
        raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    seat(tx, history, outcome)
    return _Over(stop=Stop.HANDED_OVER)


def _escalate(
    tx: Transaction, taken: Work, history: History, stop: Stop, why: str | None
) -> _Over:
    """Hands the ticket to people, with what they need to know (rule 15)."""
    if why is not None:
        escalated = Escalated(
            reason=why, tried=_tried(history, taken), summary=_summary(history)
        )
        tx.append(taken.hold.ticket, system("agent"), escalated)
    return _end(tx, taken, history, stop, detail=why)


def _tried(history: History, taken: Work) -> str:
    run = history.run(taken.run)
    turns = len(run.turns) if run is not None else 0
    used = dict.fromkeys(
        e.body.name
        for e in history.journal
        if isinstance(e.body, ToolCalled) and e.actor == taken.actor
    )
    tools = f", with {', '.join(used)}" if used else ""
    return f"{turns} {'turn' if turns == 1 else 'turns'}{tools}"


def _summary(history: History) -> str:
    """Where the ticket stands, for the colleague who takes it."""
    s = history.standing
    lines = [f"{len(s.unanswered)} unanswered"]
    if s.identity is not None:
        lines.append(f"verified as {s.identity.name or s.identity.customer}")
    if s.triage is not None:
        lines.append(", ".join(s.triage))
    lines += [f"{k}: {v}" for k, v in s.task_state.items()]
    return "; ".join(lines)


def _end(
    tx: Transaction,
    taken: Work,
    history: History,
    stop: Stop,
    *,
    detail: str | None = None,
) -> _Over:
    """Ends the run and gives the lock back: the check is `next_step`'s (rule 3).

    Raises:
        StaleHold: The hold is not the current one; nothing was stored.
    """
    run = _own(history, taken)
    seen = _seen(run) if stop is not Stop.PAUSED else None
    now = tx.standing(taken.hold.ticket)
    end = RunEnd(
        stop=stop,
        detail=detail,
        escalated=now.with_people is not None,
        task_state=now.task_state,
    )
    tx.end_run(taken.hold, taken.run, end)
    over = RunChanged(run=taken.run, change="ended", stop=stop.value, seen=seen)
    tx.append_as(taken.hold, taken.actor, over)
    outcome = release(history.lock, taken.hold, tx.now)
    match outcome:
        case Released(lock=lock, ended=before):
            tx.append_as(taken.hold, taken.actor, ended(before, "released", tx.now))
            tx.save_lock(lock)
        case HandedOver():
            tx.save_lock(outcome.lock)
            tx.append(
                taken.hold.ticket, taken.actor, begun(outcome.lock, "handed_over")
            )
            withhold(tx, tx.history(taken.hold.ticket))
        case Lost():
            raise StaleHold(f"{taken.hold.ticket} is no longer held by {taken.run}")
    return _Over(stop=stop)


def _seen(run: Run) -> int | None:
    """The last seq that the agent was shown and answered to."""
    applied = [t.built_at for t in run.turns if t.response is not None]
    return applied[-1] if applied else None
