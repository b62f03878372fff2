"""The retail tasks played through a real worker: `python -m tests.retail.play`.

For each task a fresh shop and a fresh store: the buyer's message goes in, `handoff
worker --drain` runs as a process of its own through the real SDK against a local
Messages-API server that plays the task's reference actions, and through the real MCP
client against the shop. What the shop's books hold in the end must be what
`expected_changes.json` says.

    --tasks all|3,7,12     which (default: all)
    --way plain|takeover|kill
    --store sqlite|postgresql
    --jobs N               at a time (default: 2)
    --seed N               for the takeover's turn and the kill's instant

`takeover`: at a random turn boundary a person takes the ticket over, says something
and gives it back; the next request is looked at for the person's words and for the
end of the stretch. `kill`: the worker dies by SIGKILL at a random instant and another
one goes on.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from console.wiring import RandomIds
from core.decision import Operator, Role
from core.flows import giving_back, handoff, intake, replay
from core.lock import Acquired
from core.ticket import TicketId
from store.transaction import SqlStore
from tests.worlds import brains, postgres, ready, retail_shop, retail_store
from tests.worlds.letters import letter
from tests.worlds.messages_api import MessagesApi

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "retail"
WAYS = ("plain", "takeover", "kill")
WORDS = "I have looked at this myself; please go on as agreed. Reference {n}."
MIRA = Operator(name="Mira", role=Role.SUPERVISOR)


@dataclass(frozen=True, slots=True)
class Played:
    """How a task went: an empty `wrong` is a good end."""

    task: str
    wrong: str
    requests: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One task's own world."""

    task: Mapping[str, Any]
    folder: Path
    store_url: str
    api: MessagesApi
    dice: random.Random

    @property
    def db(self) -> Path:
        return self.folder / "retail.json"


def tasks() -> list[dict[str, Any]]:
    """The shared tasks, in order."""
    found: list[dict[str, Any]] = json.loads((SHARED / "tasks.json").read_text())
    return found


def expected() -> dict[str, Any]:
    """What the shop's books must hold after each task."""
    found: dict[str, Any] = json.loads((SHARED / "expected_changes.json").read_text())
    return found


def write_config(table: Table, *, lease: str) -> Path:
    """The shared configuration, with this world's server, prompt and lease."""
    text = (SHARED / "handoff.toml").read_text()
    said = tomllib.loads(text)["agent"]["lease"]
    text = text.replace(f'lease = "{said}"', f'lease = "{lease}"')
    (table.folder / "policy.md").write_text((SHARED / "policy.md").read_text())
    env = retail_shop.environment(table.db)
    pairs = ", ".join(f"{k} = {json.dumps(v)}" for k, v in env.items())
    server = (
        f'[[tool_servers]]\nname = "retail"\n'
        f"command = {json.dumps(retail_shop.command())}\nenv = {{ {pairs} }}\n"
    )
    path = table.folder / "handoff.toml"
    path.write_text(text + "\n" + server)
    return path


def start_worker(
    table: Table, config: Path, *, drain: bool = True
) -> ForkServerProcess:
    """`handoff worker` as a process of its own."""
    where = ("--store", table.store_url, "--config", str(config))
    command = ready.Command(
        words=("worker", *where, *(["--drain"] if drain else [])),
        environment=table.api.environment,
        log=table.folder / "worker.log",
    )
    return ready.start(ready.run, command)


async def _code_of(worker: ForkServerProcess, seconds: float) -> int | None:
    return await asyncio.to_thread(ready.code_of, worker, seconds)


async def play(table: Table, way: str) -> Played:
    """Plays one task in one way and compares the books."""
    retail_store.open_copy(table.folder)
    config = write_config(table, lease="2s")
    store = SqlStore.open(table.store_url)
    try:
        await store.write(lambda tx: tx.save_operator(MIRA))
        ticket = await _arrive(store, table)
        worker = start_worker(table, config, drain=way != "takeover")
        detail = ""
        if way == "takeover":
            detail = await _told_if_stuck(store, table, ticket)
            worker.terminate()
            if (code := await _code_of(worker, 30)) != 0:
                detail = f"SIGTERM ended the worker with {code}"
            worker = start_worker(table, config)
        if way == "kill":
            worker, detail = await _kill(table, config, worker)
        code = await _code_of(worker, 60)
        wrong = "" if code == 0 else f"the worker exited with {code}"
        wrong = wrong or _books_differ(table) or await _records_differ(store, ticket)
        violations = table.api.violations()
        wrong = wrong or (f"invalid request: {violations[0]}" if violations else "")
        if way == "takeover" and not wrong:
            wrong = "" if detail.startswith("turn") else detail
    finally:
        await store.close()
    sent = len(table.api.bodies())
    return Played(str(table.task["id"]), wrong, sent, detail)


async def _arrive(store: SqlStore, table: Table) -> TicketId:
    task = str(table.task["id"])
    text = f"{brains.marker(task)} Please do what we agreed."
    arrival = letter(f"task-{task}", text, subject="Please help")
    received = await intake.receive(store, RandomIds(), arrival)
    return received.ticket


async def _told_if_stuck(store: SqlStore, table: Table, ticket: TicketId) -> str:
    """Takes over; where that does not come to its end, how the ticket stands."""
    try:
        async with asyncio.timeout(80):
            return await _take_over(store, table, ticket)
    except TimeoutError:
        history = await store.read(lambda tx: tx.history(ticket))
        stops = [str(run.stop) for run in history.runs]
        asked = len(table.api.bodies())
        last = [type(e.body).__name__ for e in history.journal[-5:]]
        return f"stuck after {asked} requests: runs {stops}, lately {last}"


async def _take_over(store: SqlStore, table: Table, ticket: TicketId) -> str:
    """A person steps in at a random turn, speaks, gives back; looks at what follows."""
    actions = table.task["evaluation_criteria"]["actions"] or []
    turn = table.dice.randint(1, max(len(actions), 1))
    while len(table.api.bodies()) < turn:
        await asyncio.sleep(0.005)
    outcome = await handoff.take_over(store, ticket, MIRA)
    while not isinstance(outcome, Acquired):
        lock = await handoff.settle_wanted(store, ticket)
        if lock.holder is not None and lock.holder.name == MIRA.name:
            break
        await asyncio.sleep(0.005)
        outcome = await handoff.take_over(store, ticket, MIRA)
    before = len(table.api.bodies())
    words = WORDS.format(n=table.dice.randint(1000, 9999))
    await handoff.reply(store, ticket, MIRA, words)
    await asyncio.sleep(0.05)
    if len(table.api.bodies()) != before:
        return "the model was asked while a person held the ticket"
    back = giving_back.GiveBack(to="agent", carry_on=True)
    await giving_back.give_back(store, ticket, MIRA, back)
    while len(table.api.bodies()) <= before:
        await asyncio.sleep(0.01)
    told = json.dumps(table.api.bodies()[before], ensure_ascii=False)
    for needed in (words, "Mira (a person) held the ticket from"):
        if needed not in told:
            return f"the next request does not say: {needed}"
    return f"turn {turn}"


async def _kill(
    table: Table, config: Path, worker: ForkServerProcess
) -> tuple[ForkServerProcess, str]:
    """SIGKILL at a random instant after the first request; another goes on."""
    while not table.api.bodies() and worker.is_alive():
        await asyncio.sleep(0.005)
    actions = table.task["evaluation_criteria"]["actions"] or []
    instant = table.dice.uniform(0, 0.03 * (len(actions) + 2))
    await asyncio.sleep(instant)
    if worker.is_alive() and worker.pid is not None:
        os.killpg(worker.pid, signal.SIGKILL)
    await _code_of(worker, 30)
    return start_worker(table, config), f"after {instant * 1000:.0f} ms"


def _books_differ(table: Table) -> str:
    books = json.dumps(retail_store.snapshot(table.db), sort_keys=True)
    made = hashlib.sha256(books.encode()).hexdigest()
    wanted = expected()[str(table.task["id"])]["final_db_sha256"]
    repeated = [k for k, n in retail_store.effects_by_key(table.db).items() if n > 1]
    if repeated:
        return f"acted twice under {repeated[0]}"
    return "" if made == wanted else "the shop's books differ"


async def _records_differ(store: SqlStore, ticket: TicketId) -> str:
    """Every run of the ticket must replay byte for byte."""
    history = await store.read(lambda tx: tx.history(ticket))
    for run in history.runs:
        outcome = await replay.replay(store, run.id)
        if not isinstance(outcome, replay.Same):
            return f"{run.id} does not replay: {type(outcome).__name__}"
    answered = not history.standing.unanswered
    return "" if answered else "the buyer was left without an answer"


async def play_all(
    chosen: list[dict[str, Any]],
    way: str,
    kind: str,
    *,
    jobs: int,
    seed: int,
    told: Callable[[Played], None] = lambda played: None,
) -> list[Played]:
    """Plays the tasks, a few at a time; each is told of as it ends."""
    gate = asyncio.Semaphore(jobs)
    cluster = postgres.Cluster().start() if kind == "postgresql" else None

    async def one(task: dict[str, Any]) -> Played:
        async with gate:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                made = cluster.create_database() if cluster is not None else ""
                url = made or f"sqlite:///{folder / 'handoff.db'}"
                dice = random.Random(f"{seed}-{task['id']}")
                brain = brains.reference_actions(SHARED / "tasks.json")
                with MessagesApi(brain) as api:
                    table = Table(task, folder, url, api, dice)
                    played = await play(table, way)
                    _tell(played, folder)
                    told(played)
                return played

    try:
        return list(await asyncio.gather(*(one(t) for t in chosen)))
    finally:
        if cluster is not None:
            cluster.stop()


def _tell(played: Played, folder: Path) -> None:
    word = played.wrong or "ok"
    asked = f"{played.requests:>3} requests"
    print(f"task {played.task:>4}  {asked}  {word}  {played.detail}", flush=True)
    if played.wrong:
        print((folder / "worker.log").read_text()[-2000:], flush=True)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.retail.play")
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--way", choices=WAYS, default="plain")
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    wanted = None if said.tasks == "all" else said.tasks.split(",")
    chosen = [t for t in tasks() if wanted is None or str(t["id"]) in wanted]
    played = asyncio.run(
        play_all(chosen, said.way, said.store, jobs=said.jobs, seed=said.seed)
    )
    good = sum(not p.wrong for p in played)
    print(f"{said.way}, {said.store}: {good} of {len(played)}")
    return 0 if good == len(played) else 1


if __name__ == "__main__":
    raise SystemExit(main())
