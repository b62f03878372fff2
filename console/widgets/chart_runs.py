"""The runs of a ticket, as a section of its chart."""

from decimal import Decimal

from console.measures import age, count
from console.widgets.sight import Sight, title_line
from console.widgets.spans import Line, line
from console.wording import stop_words
from core.cleanse import one_line
from core.history import History
from core.turn import Run


def runs_lines(history: History, sight: Sight) -> list[Line]:
    """The newest runs with model, prompt, tokens and cost."""
    if not history.runs:
        return []
    costs = [run.cost_usd for run in history.runs]
    total = f"{sum((c for c in costs if c is not None), Decimal(0)):.2f} USD"
    known = total if None not in costs else "cost not known"
    lines = [title_line("RUNS", f"{len(history.runs)} · {known}")]
    for run in history.runs[-6:]:
        lines += _run(run, sight)
    return lines


def _run(run: Run, sight: Sight) -> list[Line]:
    used = run.usage
    cost = "cost not known" if run.cost_usd is None else f"{run.cost_usd:.2f} USD"
    model = one_line(run.answered_by or run.model, 40)
    sent = used.in_tokens + used.cache_read_tokens + used.cache_write_tokens
    stop = (
        stop_words(run.stop.value)
        if run.stop
        else f"works, {age(run.started_at, sight.now)}"
    )
    return [
        line(
            (one_line(run.id, 24), "text"),
            (f" {count(len(run.turns), 'turn')} · {stop}", "dim"),
        ),
        line((f"  {_short(sent)} in · {_short(used.out_tokens)} out · {cost}", "dim")),
        line(
            (f"  {model} · prompt {one_line(run.prompt.version.version, 24)}", "faint")
        ),
    ]


def _short(tokens: int) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else str(tokens)  # noqa: PLR2004 # a thousand
