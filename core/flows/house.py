"""What the agent's flows are given: the ports, the prompt and the numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.context import Voice
from core.limits import Limits
from core.lock import Hold
from core.ports import Channel, Clock, Ids, Model, Store, Tools
from core.ticket import Actor, RunId, agent
from core.tool import ToolSpec
from core.turn import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything outside, and what the configuration says of the agent.

    Attributes:
        channels: By the name that messages carry.
        model_id: What is asked for.
        voice: How requests tell what staff say.
    """

    store: Store
    model: Model
    tools: Tools
    channels: Mapping[str, Channel]
    clock: Clock
    ids: Ids
    prompt: Prompt
    limits: Limits
    model_id: str
    voice: Voice


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A run at work: its hold and the tools it was started with.

    Attributes:
        hold: Its hold; every write carries it.
        run: Its id.
        specs: Its tools by name, the agent's own included.
    """

    hold: Hold
    run: RunId
    specs: Mapping[str, ToolSpec]

    @property
    def actor(self) -> Actor:
        """The agent, by this run."""
        return agent(self.run)
