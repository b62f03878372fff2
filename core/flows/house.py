"""What the agent's flows are given: the ports, the prompt and the numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from core.context import Voice
from core.limits import Limits
from core.lock import Hold
from core.policy import rules_of
from core.ports import Channel, Clock, Ids, Model, Store, Tools, Transaction
from core.ticket import Actor, RunId
from core.tool import ToolSpec
from core.turn import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """What is needed to use a tool, for the agent and for people alike."""

    store: Store
    tools: Tools
    ids: Ids


@dataclass(frozen=True, slots=True, kw_only=True)
class House(Hands):
    """Everything outside, and what the configuration says of the agent.

    Attributes:
        channels: By the name that messages carry.
        model_id: What is asked for.
        voice: How requests tell what staff say.
    """

    model: Model
    channels: Mapping[str, Channel]
    clock: Clock
    prompt: Prompt
    limits: Limits
    model_id: str
    voice: Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A holder at work: a run of the agent, or an operator who uses a tool.

    Attributes:
        hold: Its hold; every write carries it.
        run: The run's id; empty for an operator.
        actor: Who acts.
        specs: The tools by name; for a run the agent's own included.
        policy: The version of the tools' rules.
        hold_off: How long what is said waits before it is delivered.
    """

    hold: Hold
    run: RunId
    actor: Actor
    specs: Mapping[str, ToolSpec]
    policy: str
    hold_off: timedelta = timedelta(0)


def at_work(
    tx: Transaction,
    hold: Hold,
    actor: Actor,
    specs: Mapping[str, ToolSpec],
    *,
    run: RunId = RunId(""),  # noqa: B008 # a name, not a call
    hold_off: timedelta = timedelta(0),
) -> Work:
    """A holder who begins to work; keeps the rules that will judge the calls."""
    rules = rules_of(specs.values())
    tx.keep_rules(rules)
    return Work(
        hold=hold,
        run=run,
        actor=actor,
        specs=specs,
        policy=rules.version,
        hold_off=hold_off,
    )
