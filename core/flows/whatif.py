"""A run asked again with another prompt or model: where would it have gone another way?

Turn by turn, on the recorded conversation and the recorded tool results: each request
is rebuilt with the other prompt or model and handed to the model, and what the answer
comes to is set beside what was recorded. No tool runs, nothing is stored or sent.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from core.context import Voice, build_request, voice_for
from core.decision import canonical
from core.errors import ModelFailed
from core.history import History
from core.journal import ToolCalled
from core.limits import Limits
from core.plan import Calls, Plan, Reply, Silence, Unusable, plan
from core.ports import Model, Store, Transaction
from core.ticket import RunId
from core.turn import Prompt, Request, Run, RunRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an answer came to, in the words to compare.

    Attributes:
        kind: `reply`, `calls`, `silence`, `unusable` or `failed`.
        calls: Each call as `name {arguments}`, in order.
        text: The reply, or why there is none.
    """

    kind: str
    calls: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One turn, as recorded and as asked again.

    Attributes:
        turn: Its number, from 1.
        recorded: What was done.
        asked: What would have been done.
        acts_alike: Whether the same calls were asked for in the same order.
    """

    turn: int
    recorded: Step
    asked: Step

    @property
    def acts_alike(self) -> bool:
        """Whether both do the same; two replies are alike whatever their wording."""
        same_kind = self.recorded.kind == self.asked.kind
        return same_kind and self.recorded.calls == self.asked.calls


async def what_if(
    store: Store,
    model: Model,
    run: RunId,
    *,
    prompt: Prompt | None,
    model_id: str | None,
) -> AsyncIterator[Compared]:
    """Asks the model again for each turn of a run; yields them as they come.

    Args:
        store: Where the run is recorded; only read.
        model: What is asked.
        run: The run.
        prompt: Another prompt, or None for the run's own.
        model_id: Another model, or None for the run's own.

    Raises:
        LookupError: There is no such run.
        StoreUnreachable: The records can't be read.
    """
    found = await store.read(lambda tx: _read(tx, run))
    if found is None:
        raise LookupError(f"there is no run {run}")
    record, history = found
    for turn in record.run.turns:
        if turn.response is None or turn.folds is not None:
            continue
        known = history.as_of(turn.built_at)
        request = _request(record.run, known, prompt, model_id)
        asked = await _asked(model, request, known)
        recorded = _step(plan(turn.response, known))
        yield Compared(turn=turn.number, recorded=recorded, asked=asked)


def _read(tx: Transaction, run: RunId) -> tuple[RunRecord, History] | None:
    record = tx.run_record(run)
    return None if record is None else (record, tx.history(record.run.ticket))


def _request(
    run: Run, known: History, prompt: Prompt | None, model_id: str | None
) -> Request:
    return build_request(
        known,
        prompt or run.prompt,
        run.tools,
        replace(Limits(), max_output_tokens=run.max_tokens),
        model=model_id or run.model,
        voice=voice_for(model_id) if model_id else Voice(run.staff_voice),
    )


async def _asked(model: Model, request: Request, known: History) -> Step:
    try:
        response = await model.respond(request)
    except ModelFailed as failed:
        return Step(kind="failed", text=str(failed))
    return _step(plan(response, known))


def _step(planned: Plan) -> Step:
    match planned:
        case Reply(text=text):
            return Step(kind="reply", text=text)
        case Calls(entries=entries):
            calls = tuple(
                f"{e.name} {canonical(e.input)}"
                for e in entries
                if isinstance(e, ToolCalled)
            )
            return Step(kind="calls", calls=calls)
        case Silence():
            return Step(kind="silence")
        case Unusable(why=why):
            return Step(kind="unusable", text=why)
