"""What a run's own tool calls say against letting the agent go on (rule 15).

A model that asks for a tool which there is not, or with arguments that are no
arguments, has lost its way, and one that makes the same call for the same result, or
whose calls keep failing, is stuck: the buyer is better served by a person. What only
breaks a tool's schema is told to the model, which may ask again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.cleanse import one_line
from core.decision import canonical
from core.journal import Entry, ToolCalled, ToolReturned
from core.limits import Limits
from core.ticket import ActorKind
from core.turn import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A call of the run that has its result."""

    call: ToolCalled
    result: ToolReturned

    @property
    def alike(self) -> tuple[str, str, str]:
        """The same for the same call with the same result."""
        given, told = canonical(self.call.input), canonical(self.result.content)
        return self.call.name, given, told


def trouble(journal: Iterable[Entry], run: Run, limits: Limits) -> str | None:
    """Why people should go on, in one line, or None where nothing speaks for it."""
    made = _made(journal, run)
    known = {tool.get("name") for tool in run.tools}
    for call in (m.call for m in made):
        if call.name not in known:
            return f"the agent asked for a tool that there is not: {_name(call)}"
        if not isinstance(call.input, Mapping):
            return f"the agent called {_name(call)} without named arguments"
    last = made[-limits.same_call :]
    if len(last) == limits.same_call and len({m.alike for m in last}) == 1:
        return "the agent made the same call again and again with the same result"
    last = made[-limits.failures :]
    if len(last) == limits.failures and all(m.result.is_error for m in last):
        return f"{limits.failures} tool calls of the agent failed in a row"
    return None


def _made(journal: Iterable[Entry], run: Run) -> list[_Made]:
    asked: dict[str, ToolCalled] = {}
    made: list[_Made] = []
    for entry in journal:
        match entry.body:
            case ToolCalled() as call if (
                entry.actor.kind is ActorKind.AGENT and entry.actor.name == run.id
            ):
                asked[call.id] = call
            case ToolReturned(id=call_id) as result if call_id in asked:
                made.append(_Made(call=asked[call_id], result=result))
            case _:
                pass
    return made


def _name(call: ToolCalled) -> str:
    return repr(one_line(call.name, 60))
