"""Every number that a rule takes, in one place."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds the agent.

    Attributes:
        max_turns: Model calls in one run.
        max_cost_usd: Of one run.
        max_ticket_cost_usd: Of all runs of one ticket, or None for no such limit.
        max_run: How long one run may take, by the database's clock.
        max_output_tokens: Of one model call.
        context_tokens: Estimated size of a request above which a ticket goes to
            people, as long as its journal can't be folded.
        lease: A run's hold without renewal; renewed at a third of it.
        model_patience: How long a model call, with its retries, may take.
        hold_off_agent: How long a reply of the agent waits before it is delivered.
        same_call: How often the same call may return the same before people look.
        failures: How many tool calls may fail in a row, or be refused in a row or by
            one rule, before people look.
    """

    max_turns: int = 20
    max_cost_usd: Decimal = Decimal("2.00")
    max_ticket_cost_usd: Decimal | None = None
    max_run: timedelta = timedelta(minutes=30)
    max_output_tokens: int = 8192
    context_tokens: int = 100_000
    lease: timedelta = timedelta(seconds=120)
    model_patience: timedelta = timedelta(seconds=120)
    hold_off_agent: timedelta = timedelta(0)
    same_call: int = 3
    failures: int = 5
