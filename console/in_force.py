"""What is in force in this process, from its configuration: for the desk and a command.

Said from what was read at the start, never from the file again: somebody may have
changed it since. Nothing is started or asked for it. A tool server's command, address
and variables may hold a key, though none belongs there: only the program, the host and
the variables' names are said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from console.config import Config, ToolServer
from console.keymap import key_named, shown
from console.keytable import COMMANDS, KEYS
from console.measures import count, money
from console.settings import Section, Setting
from core.cleanse import one_line
from core.decision import Operator
from core.tool import FREE, Approve, Consequence, ToolPolicy, ToolSpec

_CONSEQUENCES = {
    Consequence.NONE: "only reads",
    Consequence.REVERSIBLE: "reversible",
    Consequence.MESSAGE: "message",
    Consequence.ACCOUNT: "account",
    Consequence.MONEY: "money",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a process was started with.

    Attributes:
        config: Its configuration.
        store: Where the store is, without a password.
        who: Who sits here.
        undo: How long a reply written at the desk can be taken back by default.
        log: Where errors are written, or None.
    """

    config: Config
    store: str
    who: Operator
    undo: timedelta
    log: Path | None


def in_force(start: Start, known: Mapping[str, ToolSpec]) -> tuple[Section, ...]:
    """All settings but those of the terminal, in sections.

    Args:
        start: What the process was started with.
        known: What the tool servers offer, as far as they were asked already.
    """
    said = start.config
    file = one_line(said.file.name, 60) if said.file is not None else "handoff.toml"

    def section(title: str, table: str, settings: Sequence[Setting]) -> Section:
        return Section(title=title, where=f"{file} {table}", settings=tuple(settings))

    return (
        _start(start, file),
        section("Agent", "[agent]", _agent(said)),
        section("Tools", "[tools.NAME]", _tools(said, known)),
        section("Tool servers", "[[tool_servers]]", _servers(said)),
        section("Channels", "[channels.NAME]", _channels(said)),
        section("Replies", "[delivery]", _replies(start)),
        section("Retention", "[retention]", (_transcripts(said),)),
        section("Notices", "[console]", (_pair("bell", _on(said.bell)),)),
        section("Keys of your own", "[keys]", _keys(said)),
    )


def policy_words(policy: ToolPolicy) -> str:
    """What a tool may do without a person, in a line."""
    words = [_CONSEQUENCES[policy.consequence]]
    match policy.approve:
        case Approve.NEVER:
            words.append("free")
        case Approve.ALWAYS:
            words.append("asks")
        case Approve.OVER:
            words.append(f"asks over {money(policy.approve_over, None)}")
    if policy.four_eyes_over is not None:
        words.append(f"four eyes over {money(policy.four_eyes_over, None)}")
    if policy.identity:
        words.append("needs identity")
    for most, within in (
        (policy.limit_per_ticket, "ticket"),
        (policy.limit_per_day, "day"),
    ):
        if most is not None:
            words.append(f"asks over {money(most, None)} a {within}")
    if policy.object is not None:
        words.append(f"one open for each {one_line(policy.object, 40)}")
    if policy.establishes_identity is not None:
        method = one_line(policy.establishes_identity, 40)
        words.append(f"proves who the buyer is ({method})")
    if any(word.startswith("asks") for word in words):
        words.append(f"{_length(policy.expires)} to decide")
    if policy.timeout != FREE.timeout:
        words.append(f"{_length(policy.timeout)} a call")
    if policy.consequence is not Consequence.NONE:
        words.append("safe to retry" if policy.idempotency else "never retried")
    return " · ".join(words)


def _pair(name: str, value: str, where: str = "") -> Setting:
    return Setting(name=name, value=value, where=where)


def _start(start: Start, file: str) -> Section:
    said = start.config
    path = "none: all is as it comes"
    if said.file is not None:
        path = one_line(str(said.file.absolute()), 300)
    kind = "SQLite" if said.store.startswith("sqlite") else "PostgreSQL"
    who = f"{one_line(start.who.name, 60)}, {start.who.role.value}"
    if start.who.disabled:
        who += ", disabled"
    log = "none" if start.log is None else one_line(str(start.log.absolute()), 300)
    settings = (
        _pair("configuration", path, "--config, HANDOFF_CONFIG, or where it starts"),
        _pair(
            "store",
            f"{kind} {one_line(start.store, 300)}",
            f"--store, HANDOFF_STORE, or {file}",
        ),
        _pair(
            "you",
            who,
            "--as, HANDOFF_OPERATOR, or your login"
            if kind == "SQLite"
            else "the database's login",
        ),
        _pair("log file", log, "HANDOFF_LOG"),
    )
    return Section(title="Start", where="", settings=settings)


def _agent(said: Config) -> Sequence[Setting]:
    limits, per_ticket = said.limits, said.limits.max_ticket_cost_usd
    return (
        _pair("model", one_line(said.model, 100)),
        _pair("prompt", one_line(said.prompt.version.label, 100)),
        _pair("turns", f"{limits.max_turns} a run"),
        _pair("costs of a run", money(limits.max_cost_usd, "USD")),
        _pair(
            "costs of a ticket",
            "no limit" if per_ticket is None else money(per_ticket, "USD"),
        ),
        _pair("time of a run", _length(limits.max_run)),
        _pair("lease", _length(limits.lease)),
        _pair("context", f"{limits.context_tokens:,} tokens, then compacted"),
        _pair("answer", f"{limits.max_output_tokens:,} tokens a call"),
        _pair("staff's words", f"{said.staff_messages} (staff_messages)"),
    )


def _tools(said: Config, known: Mapping[str, ToolSpec]) -> Sequence[Setting]:
    rows = [_tool(said, name, known.get(name)) for name in said.tools]
    others = [spec for name, spec in known.items() if name not in said.tools]
    rows += [
        _pair(
            one_line(spec.name, 60),
            f"{policy_words(spec.policy)} · by its server's marks",
        )
        for spec in others
    ]
    if not known:
        rest = "free where their server says that they only read; else account · asks"
        rows.append(_pair("all others" if rows else "all", rest))
    return rows


def _tool(said: Config, name: str, known: ToolSpec | None) -> Setting:
    shown_name = one_line(name, 60)
    if known is not None:
        return _pair(shown_name, policy_words(known.policy))
    words = policy_words(said.policy_of(name, read_only=False))
    if said.tools[name].consequence is None:
        words += " · unless its server says that it only reads"
    return _pair(shown_name, words)


def _servers(said: Config) -> Sequence[Setting]:
    rows = [_pair(one_line(s.name, 60), _server(s)) for s in said.tool_servers]
    return rows or (_pair("none", "the agent has no tools but its own"),)


def _server(said: ToolServer) -> str:
    words = []
    if said.url is not None:
        host = urlsplit(said.url).netloc.rpartition("@")[2]
        words.append(f"at {one_line(host, 100)}")
    else:
        program, *rest = said.command
        more = f" with {count(len(rest), 'argument')}" if rest else ""
        words.append(f"starts {one_line(program, 200)}{more}")
        words.append(f"in {one_line(str(said.folder), 300)}")
    if said.env:
        words.append(f"gets {', '.join(one_line(name, 60) for name in said.env)}")
    words.append(f"{_length(said.start_timeout)} to start")
    return " · ".join(words)


def _channels(said: Config) -> Sequence[Setting]:
    rows = [
        _pair(one_line(name, 60), f"jsonl: adds to {one_line(str(path), 300)}")
        for name, path in said.channels.items()
    ]
    return rows or (_pair("none", "replies wait in the outbox as “no channel”"),)


def _replies(start: Start) -> Sequence[Setting]:
    human = start.config.hold_off_human
    undo = f"{_length(start.undo)} at the desk, none for a command"
    if human is not None:
        undo = _length(human)
    return (
        _pair("undo time", f"{undo} (hold_off_human)"),
        _pair(
            "agent waits",
            f"{_length(start.config.limits.hold_off_agent)} (hold_off_agent)",
        ),
    )


def _transcripts(said: Config) -> Setting:
    return _pair("transcripts", f"{count(said.transcripts_days, 'day')}, then reduced")


def _keys(said: Config) -> Sequence[Setting]:
    words = {c.id: c.words for c in COMMANDS}
    rows = [
        _pair(
            id_,
            f"{shown(key_named(key) or key)} instead of {KEYS[id_] or 'none'}: "
            f"{words[id_]}",
        )
        for id_, key in said.keys.items()
    ]
    return rows or (_pair("none", "every command has the key that it comes with"),)


def _on(value: bool) -> str:  # noqa: FBT001 # a value to say
    return "on" if value else "off"


_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


def _length(length: timedelta) -> str:
    """All of a length of time: `2 min`, `1 min 30 s`, `500 ms`; `none` for zero."""
    left, words = round(length / timedelta(milliseconds=1)), []
    for size, unit in _UNITS:
        many, left = divmod(left, size)
        if many:
            words.append(f"{many} {unit}")
    return " ".join(words) or "none"
