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
from typing import TypeAlias

from core.boundary import (
    AwaitDecision,
    CarryOut,
    Continue,
    Escalate,
    Execute,
    HandOver,
    Pause,
    Release,
    Report,
    next_step,
)
from core.compaction import Fold, fold_request, plan_compaction
from core.context import (
    Voice,
    build_request,
    canonical_message,
    entries_at,
    estimated_tokens,
)
from core.errors import ModelFailed, StaleHold, ToolLost
from core.flows.act import carry_out, execute
from core.flows.asking import Answer, Interrupted, ask_model, keep_lease
from core.flows.ending import Over, end, escalate, hand_to_operator, own
from core.flows.house import House, Work
from core.flows.speak import say
from core.flows.taking import take
from core.history import Draft, History, ran_out
from core.journal import Compacted, Quarantined, RunChanged, ToolReturned
from core.plan import Calls, Reply, Silence, Unusable, plan
from core.ports import Feed, Transaction
from core.quarantine import left_out, named
from core.ticket import TicketId, system
from core.tool import ToolSpec
from core.turn import ModelResponse, Request, Run, Stop, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """The model is to be asked this, as stored."""

    request: Request
    number: int
    fold: Fold | None = None


_Step: TypeAlias = _Ask | CarryOut | Execute | Over


async def work(
    house: House, ticket: TicketId, feed: Feed, stopping: asyncio.Event
) -> Over | None:
    """Runs the agent on a ticket until there is nothing left for it to do.

    Args:
        house: The ports and numbers.
        ticket: The ticket.
        feed: The worker's change feed.
        stopping: Set when the worker is to end: the run gives the ticket back at its
            next boundary.

    Returns:
        How the run ended, or None where the ticket was not free or not due.
    """
    specs, problem = await _tools(house)
    taken = await house.store.write(lambda tx: take(tx, house, ticket, specs))
    if taken is None:
        return None
    if problem is not None:
        why = problem
        return await house.store.write(lambda tx: _without_tools(tx, taken, why))
    over = Over(stop=Stop.CRASHED)
    try:
        async with asyncio.TaskGroup() as together:
            keeper = together.create_task(keep_lease(house, taken.hold))
            over = await _go_on(house, taken, feed, stopping)
            keeper.cancel()
    except* StaleHold:
        pass  # whoever has the ticket now has written how this run ended
    return over


async def _tools(house: House) -> tuple[tuple[ToolSpec, ...], str | None]:
    """The servers' tools, or why there are none."""
    try:
        return await house.tools.specs(), None
    except ToolLost as lost:
        return (), str(lost)


async def _go_on(
    house: House, taken: Work, feed: Feed, stopping: asyncio.Event
) -> Over:
    step = await house.store.write(lambda tx: _advance(tx, house, taken))
    while True:
        match step:
            case Over():
                return step
            case CarryOut(call=call):
                await carry_out(house, taken, call)
                step = await house.store.write(lambda tx: _advance(tx, house, taken))
            case Execute(decision=decision):
                await execute(house, taken, decision)
                step = await house.store.write(lambda tx: _advance(tx, house, taken))
            case _Ask() as ask:
                answer = await ask_model(house, taken.hold, ask.request, feed, stopping)
                step = await house.store.write(_applying(house, taken, ask, answer))


def _applying(
    house: House, taken: Work, ask: _Ask, answer: Answer
) -> Callable[[Transaction], _Step]:
    return lambda tx: _apply(tx, house, taken, ask, answer)


def _without_tools(tx: Transaction, taken: Work, why: str) -> Over:
    history = tx.history(taken.hold.ticket)
    return escalate(tx, taken, history, Stop.ERROR, why)


# One boundary: what comes next, and the transaction that does it


def _advance(tx: Transaction, house: House, taken: Work) -> _Step:
    history = tx.history(taken.hold.ticket)
    run = own(history, taken)
    step = next_step(history, run, house.limits)
    match step:
        case CarryOut() | Execute():
            return step
        case HandOver():
            return hand_to_operator(tx, taken, history)
        case AwaitDecision():
            return end(tx, taken, history, Stop.AWAITING_DECISION)
        case Pause(why=why):
            return end(tx, taken, history, Stop.PAUSED, detail=why)
        case Release():
            return end(tx, taken, history, Stop.ANSWERED)
        case Escalate(stop=stop, why=why):
            return escalate(tx, taken, history, stop, why)
        case Report(found=found):
            why = f"{named(found)} can't be read: {found[0].reason}"
            return _quarantine(tx, taken, history, found, why)
        case Continue(unrun=unrun):
            for call, told in unrun:
                result = ToolReturned(id=call.id, content=told, is_error=True)
                history = history.plus(tx.append_as(taken.hold, taken.actor, result))
            return _request(tx, house, taken, history)


def _quarantine(
    tx: Transaction,
    taken: Work,
    history: History,
    found: tuple[Quarantined, ...],
    why: str,
) -> Over:
    """Names what can't be used to people; the agent goes on without it (rule 15)."""
    for body in found:
        tx.append(taken.hold.ticket, system("agent"), body)
    return escalate(tx, taken, history, Stop.ERROR, why)


def _refused(
    tx: Transaction, house: House, taken: Work, history: History, failed: ModelFailed
) -> Over:
    """The provider refuses a part of the request: what it was made of is left out."""
    run = own(history, taken)
    known = history.as_of(run.turns[-1].built_at)
    message, block = failed.place or (-1, None)
    out = left_out(known.journal)
    at = entries_at(known, run.model, house.voice, message, block)
    kinds = {e.seq: e.kind for e in known.journal}
    found = tuple(
        Quarantined(reason=str(failed), was=kinds[seq], entry=seq)
        for seq in at
        if seq not in out
    )
    if not found:
        return escalate(tx, taken, history, Stop.ERROR, str(failed))
    why = f"{named(found)} is refused: {failed}"
    return _quarantine(tx, taken, history, found, why)


def _request(
    tx: Transaction, house: House, taken: Work, history: History
) -> _Ask | Over:
    """Builds the request, stores it as it will be sent, and asks for it."""
    run = own(history, taken)
    request = build_request(
        history,
        run.prompt,
        run.tools,
        replace(house.limits, max_output_tokens=run.max_tokens),
        model=run.model,
        voice=house.voice,
    )
    size = estimated_tokens(request)
    if size <= house.limits.context_tokens:
        return _store_request(tx, taken, history, request)
    return _fold(tx, house, taken, history, f"about {size} tokens")


def _store_request(
    tx: Transaction,
    taken: Work,
    history: History,
    request: Request,
    fold: Fold | None = None,
) -> _Ask:
    number = len(own(history, taken).turns) + 1
    turn = Turn(
        number=number,
        built_at=history.standing.last_seq,
        upto=len(request.messages),
        requested_at=tx.now,
        folds=fold.upto if fold is not None else None,
    )
    sent = [canonical_message(m) for m in request.messages]
    tx.store_request(taken.hold, taken.run, turn, sent)
    made = RunChanged(run=taken.run, change="turn", turn=number)
    tx.append_as(taken.hold, taken.actor, made)
    return _Ask(request=request, number=number, fold=fold)


def _fold(
    tx: Transaction, house: House, taken: Work, history: History, size: str
) -> _Ask | Over:
    """Asks for a summary of the older part, or people, where there is none to fold."""
    fold = plan_compaction(history, house.limits)
    if fold is None:
        why = f"the conversation is too long for the model: {size}"
        return escalate(tx, taken, history, Stop.ERROR, why)
    run = own(history, taken)
    limits = replace(house.limits, max_output_tokens=run.max_tokens)
    request = fold_request(history, fold.upto, limits, model=run.model)
    return _store_request(tx, taken, history, request, fold)


def _apply(
    tx: Transaction, house: House, taken: Work, ask: _Ask, answer: Answer
) -> _Step:
    """Stores the model's answer with all that follows from it, in one transaction."""
    history = tx.history(taken.hold.ticket)
    run = own(history, taken)
    stopped = history.lock.wanted_by is not None
    stopped = stopped or history.standing.with_people is not None
    stopped = stopped or (history.stopped or history.standing.paused) is not None
    if isinstance(answer, ModelResponse):
        tx.store_response(
            taken.hold, taken.run, ask.number, answer, applied=not stopped
        )
        if history.lock.wanted_by is not None and ask.fold is None:
            _keep_as_draft(tx, taken, history, run, answer)
    if stopped:
        return _advance(tx, house, taken)
    match answer:
        case Interrupted():
            return end(tx, taken, history, Stop.PAUSED, detail="the worker stopped")
        case ModelFailed(kind="overflow") if ask.fold is None:
            why = "its provider refused it"
            if _overflowed_before(run):
                why = f"the conversation is too long for the model: {why}, folded too"
                return escalate(tx, taken, history, Stop.ERROR, why)
            return _fold(tx, house, taken, history, why)
        case ModelFailed(kind="no_system_role") if house.voice is Voice.SYSTEM:
            why = "the provider takes no system messages"
            over = end(tx, taken, history, Stop.PAUSED, detail=why)
            return replace(over, voice_refused=True)
        case ModelFailed(place=(_, _)) as failed if ask.fold is None:
            return _refused(tx, house, taken, history, failed)
        case ModelFailed(kind=kind) as failed:
            over = escalate(tx, taken, history, Stop.ERROR, str(failed))
            return replace(over, key_refused=kind == "refused_key")
        case ModelResponse() as response if ask.fold is not None:
            return _folded(tx, house, taken, history, ask.fold, response)
        case ModelResponse() as response:
            return _carry(tx, house, taken, history, run, response)


def _overflowed_before(run: Run) -> bool:
    """Whether the request before the last was refused too, and the past folded since.

    Of a run that goes on, only a request that its provider refused as too long is
    without an answer.
    """
    asked = [turn for turn in run.turns if turn.folds is None]
    return len(asked) > 1 and asked[-2].response is None


def _keep_as_draft(
    tx: Transaction, taken: Work, history: History, run: Run, answer: ModelResponse
) -> None:
    """What the agent would have said is there for who takes over, as the agent's."""
    seen = run.turns[-1].built_at
    planned = plan(answer, history.as_of(seen))
    if isinstance(planned, Reply):
        tx.save_draft(
            Draft(
                ticket=history.ticket.id,
                operator=taken.run,
                mode="reply",
                text=planned.text,
                written_at_seq=seen,
                updated_at=tx.now,
            )
        )


def _folded(
    tx: Transaction,
    house: House,
    taken: Work,
    history: History,
    fold: Fold,
    response: ModelResponse,
) -> _Step:
    """Stores the summary; what follows is asked with it."""
    planned = plan(response, history)
    if not isinstance(planned, Reply):
        why = "the model gave no summary of the conversation"
        return escalate(tx, taken, history, Stop.ERROR, why)
    made = Compacted(upto=fold.upto, text=planned.text, kept=fold.kept)
    tx.append_as(taken.hold, taken.actor, made)
    return _advance(tx, house, taken)


def _carry(
    tx: Transaction,
    house: House,
    taken: Work,
    history: History,
    run: Run,
    response: ModelResponse,
) -> _Step:
    # of what the model was shown, so that a replay comes to the same
    seen = run.turns[-1].built_at
    planned = plan(response, history.as_of(seen))
    match planned:
        case Unusable(stop=stop, why=why):
            return escalate(tx, taken, history, stop, why)
        case Reply(text=text, entries=entries, promises_person=promised):
            for body in entries:
                tx.append_as(taken.hold, taken.actor, body)
            off = taken.hold_off
            say(tx, taken.hold, history, taken.actor, text, seen, hold_off=off)
            if promised:
                why = "the agent promised the buyer a person"
                return escalate(tx, taken, history, Stop.ESCALATED, why)
            expired = ran_out(history.journal)
            if expired is not None:
                return escalate(tx, taken, history, Stop.ESCALATED, expired)
        case Calls(entries=entries) | Silence(entries=entries):
            for body in entries:
                tx.append_as(taken.hold, taken.actor, body)
    return _advance(tx, house, taken)
