"""What a screen does in the background.

A screen that closes just then never starts it. So it is a function, called once it is
started: a coroutine that nobody awaits would be complained about on the terminal.
"""

from collections.abc import Awaitable, Callable

from textual.dom import DOMNode


def in_background(
    node: DOMNode,
    work: Callable[[], Awaitable[object]],
    name: str,
    *,
    group: str = "default",
    exclusive: bool = False,
) -> None:
    """Does something as long as the node is there; a failure doesn't end the program.

    Args:
        node: For whom.
        work: What is done.
        name: What it is, for who reads of its failure.
        group: What it is one of.
        exclusive: Whether it takes the place of the group's others.
    """

    async def begun() -> None:
        await work()

    node.run_worker(
        begun,  # type: ignore[arg-type] # the library finds no type for it
        name=name,
        group=group,
        exclusive=exclusive,
        exit_on_error=False,
    )
