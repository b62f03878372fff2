"""`handoff overview`: the whole house at a glance, as the desk's `s` shows it."""

import shutil

import click

from console import shapes, shapes_values, shapes_work
from console.commands import base, opened, options
from console.overview import Overview
from console.overview import overview as look
from console.widgets.overview_lines import hold_lines, overview_lines
from console.widgets.sight import Sight
from console.widgets.spans import plain


@click.command(cls=options.Command)
def overview() -> None:
    """Show who has what, workers, ages, approvals, troubles, today's costs."""

    async def work() -> tuple[Overview, str]:
        async with opened.at_desk() as desk:
            await opened.tell_if_empty(desk.store)
            return await look(desk.store, desk.me.name), desk.me.name

    seen, me = base.run(work())
    width = shutil.get_terminal_size((100, 24)).columns
    sight = Sight(me=me, now=seen.now, zone=None, width=width)
    rows = (*seen.held, *seen.runs)
    base.show(
        _document(seen),
        lambda: plain([*overview_lines(seen, sight), *hold_lines(rows, seen, sight)]),
    )


def _document(seen: Overview) -> shapes_values.Shape:
    spent, pause = seen.spent, seen.pause
    return {
        "at": shapes_values.when(seen.now),
        "pause": None
        if pause is None
        else {"by": pause.by, "why": pause.why, "at": shapes_values.when(pause.at)},
        "workers": [
            {
                "id": w.id,
                "host": w.host,
                "alive": w.alive,
                "seen_at": shapes_values.when(w.seen_at),
            }
            for w in seen.workers
        ],
        "counts": dict(seen.counts),
        "held": [shapes.queue_row(r, seen.presences) for r in seen.held],
        "runs": [shapes.queue_row(r, seen.presences) for r in seen.runs],
        "decisions": [shapes_work.decision(d) for d in seen.decisions],
        "approved": [shapes_work.decision(d) for d in seen.approved],
        "undelivered": [shapes.reply(r) for r in seen.undelivered],
        "moved_today": {
            tool: {
                currency: shapes_values.money(amount)
                for currency, amount in sums.items()
            }
            for tool, sums in seen.moved.items()
        },
        "model_today": {
            "runs": spent.runs,
            "cost_usd": shapes_values.money(spent.cost_usd),
            "cost_not_known": spent.unknown,
        },
    }
