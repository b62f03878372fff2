"""The demo's policy and prompt: they load, and they fit the shop's tools."""

from decimal import Decimal
from pathlib import Path

from console.config import Config, load
from core.tool import Approve, Consequence
from tests.demo.test_shop import opened

FOLDER = Path(__file__).resolve().parents[2] / "console" / "demo"


def demo(tmp_path: Path) -> Config:
    return load(file=str(FOLDER / "handoff.toml"), store=f"sqlite:///{tmp_path}/h.db")


async def test_every_tool_of_the_shop_has_a_policy_that_fits_its_arguments(
    tmp_path: Path,
) -> None:
    config = demo(tmp_path)
    async with opened(tmp_path / "shop.db") as shop:
        tools = (await shop.list_tools()).tools

    assert {tool.name for tool in tools} == set(config.tools)
    for tool in tools:
        reads = bool(tool.annotations and tool.annotations.read_only_hint)
        policy = config.policy_of(tool.name, reads)
        named = (policy.object, policy.amount, policy.currency, policy.idempotency)
        assert {name for name in named if name} <= set(tool.input_schema["properties"])
        assert reads == (policy.consequence is Consequence.NONE)
        assert reads or (policy.identity and policy.idempotency and policy.object)


def test_refunds_over_fifty_need_a_decision_and_over_five_hundred_two_people(
    tmp_path: Path,
) -> None:
    policy = demo(tmp_path).policy_of("refund_order", False)
    assert policy.approve is Approve.OVER
    assert policy.approve_over == Decimal("50.00")
    assert policy.four_eyes_over == Decimal("500.00")


def test_the_prompt_has_a_version_and_names_the_tools_it_tells_to_use(
    tmp_path: Path,
) -> None:
    prompt = demo(tmp_path).prompt
    assert prompt.version.version == "sundry-support-3"
    for name in ("set_triage", "find_customer", "update_state", "escalate"):
        assert name in prompt.text
