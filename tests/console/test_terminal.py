"""The console in a real terminal: what reaches it, and how it is left."""

import asyncio
import json
import re
import signal
import termios
from base64 import b64decode
from itertools import combinations

import pytest

from console.app import HandoffApp
from core.decision import Operator, Role
from core.flows.canned import keep
from core.flows.handoff import take_over
from core.journal import StateAmended
from core.ticket import Attachment, agent
from tests.console.counter import RUN, Counter
from tests.console.shown import ME
from tests.console.steps import app_on, desk_of, done, pane_text, press, until
from tests.console.terminal import playing, terminal
from tests.zoo import FORBIDDEN, HOSTILE, MILD

RESTORED = (b"\x1b[?1000l", b"\x1b[?1049l", b"\x1b[?2004l", b"\x1b[?25h")


def every_key(url: str) -> bytes:
    """Goes through the desk and a card, and leaves; what the terminal got."""
    with playing(url) as shown:
        shown.until("● live".encode())
        shown.keys("6")
        shown.shows("YOU HOLD")
        shown.wait(0.4)  # a key that acts waits for nobody's rows
        shown.keys("\r")
        shown.shows("esc back")
        shown.keys("g G k  a")
        shown.shows("Cancel")
        shown.wait(0.4)
        shown.keys("jjjjG")
        shown.closes("Cancel")
        shown.keys("/pay\r")
        shown.wait(0.2)
        shown.keys("y")
        shown.until(b"\x1b]52;c;")
        shown.wait(0.4)
        shown.keys("q")
        shown.shows("stays yours")
        shown.wait(0.7)
        shown.keys("y")
        assert shown.ended() == 0
        return shown.raw


async def test_f7_no_byte_of_a_hostile_text_reaches_the_terminal(
    counter: Counter, sqlite_url: str
) -> None:
    everything = "\n".join(HOSTILE.values())
    ticket = await counter.writes(
        everything, subject=" ".join(HOSTILE.values()), sender="\x1b]0;PWNED\x07@x.org"
    )
    await counter.proposes(ticket, {"order_id": "O-1", **HOSTILE})
    await take_over(counter.store, ticket, ME)
    await counter.store.close()

    raw = await asyncio.to_thread(every_key, sqlite_url)
    copied = re.findall(rb"\x1b\]52;c;([^\x07\x1b]*)", raw)
    texts = [b64decode(piece).decode() for piece in copied]
    assert texts
    assert [t for t in texts if not t.replace("\n", "").isprintable()] == []
    titles = re.findall(rb"\x1b\]2;([^\x07]*)\x07", raw)
    assert [t for t in titles if not re.fullmatch(rb"handoff( \(\d+\))?", t)] == []
    assert [piece for piece in FORBIDDEN if piece in raw] == []
    assert b"\\u202e" in raw
    assert all(mode in raw for mode in RESTORED)


PANELS = {
    "s": "WHO HAS WHAT",
    "O": "People",
    "p": "asked the model",
    "W": "Whisper to the agent",
    "z": "sleep until",
}
"""The keys of panels, and what these say."""


def every_panel(url: str) -> bytes:
    """Opens every panel on a ticket that is full of it; what the terminal got."""
    with playing(url, size=(160, 45)) as shown:
        shown.until("● live".encode())
        shown.keys("6")
        shown.shows("YOU HOLD")
        shown.shows("hidden characters")
        shown.wait(0.2)
        columns = shown.columns("│")
        for row in range(3, 42):
            assert {54, 116} <= columns[row], (row, shown.screen())
        for key, words in PANELS.items():
            shown.keys(key)
            shown.shows(words)
            shown.closes(words)
        shown.keys("r")
        shown.shows("^s send")
        shown.keys("/")
        shown.shows("writes it")
        shown.wait(0.35)
        shown.keys("\x1b[B\x1b[B\x1b[B")
        shown.wait(0.35)
        shown.closes("writes it", "\r")
        return shown.raw


async def test_f128_panels_pass_no_byte_and_columns_stay_in_line(
    counter: Counter, sqlite_url: str
) -> None:
    bad = " ".join([*HOSTILE.values(), *MILD.values()])
    ticket = await counter.writes(bad, subject=bad)
    for name, text in MILD.items():
        await counter.writes(text, subject=f"{name} {text}")
    odd = Operator(name=HOSTILE["title"] + HOSTILE["bidi override"], role=Role.AGENT)
    await counter.store.write(lambda tx: tx.save_operator(odd))
    hold = await counter.works(ticket)
    state = StateAmended(patch={HOSTILE["colour"]: bad, "next": HOSTILE["clipboard"]})
    await counter.store.write(lambda tx: tx.append_as(hold, agent(RUN), state))
    await counter.hands_over_to(ticket, ME)
    await counter.store.close()

    raw = await asyncio.to_thread(every_panel, sqlite_url)
    assert [piece for piece in FORBIDDEN if piece in raw] == []
    assert b"QUJD" in raw  # as text, not as a command
    assert b"\x1b]52;c;QUJD" not in raw


EACH = """
import json, sys
from console import cli
for words in json.loads(sys.argv[2]):
    cli.run(["--store", sys.argv[1], *words])
"""


def commands(url: str, each: list[tuple[str, ...]]) -> bytes:
    """What a terminal got from commands that ran in it, one after the other."""
    with terminal("-c", EACH, url, json.dumps(each)) as shown:
        assert shown.ended() == 0
        return shown.raw


async def test_f128_the_command_line_passes_no_byte_to_a_terminal(
    counter: Counter, sqlite_url: str
) -> None:
    bad = " ".join([*HOSTILE.values(), *MILD.values()])
    ticket = await counter.writes(bad, subject=bad, sender=f"{HOSTILE['title']}@x.org")
    decision = await counter.proposes(ticket, {"order_id": "O-1", **HOSTILE})
    named = tuple(Attachment(name=bad, type=bad, size=1) for bad in HOSTILE.values())
    files = await counter.writes("Two files.", files=named)
    who = Operator(name=HOSTILE["title"] + HOSTILE["dcs"], role=Role.AGENT)
    await counter.store.write(lambda tx: tx.save_operator(who))
    await keep(counter.store, ME, "greeting", bad)
    await counter.store.close()

    odd = HOSTILE["clipboard"] + HOSTILE["bidi override"] + HOSTILE["title"]
    each: list[tuple[str, ...]] = [
        ("tickets", "--view", "all"),
        ("show", ticket),
        ("decisions",),
        ("show", files),
        *(("export", files, "--format", form) for form in ("md", "html", "json")),
        *(("export", ticket, "--format", form) for form in ("md", "html", "json")),
        ("show", ticket, "--json"),
        ("overview",),
        ("runs", ticket),
        ("run", RUN),
        ("operator", "list"),
        ("canned", "list"),
        ("note", ticket, "--as", ME.name, odd.strip("\x1b")),
        ("show", odd),
        ("take", ticket, "--as", odd),
        ("decide", decision, "--as", odd),
        (odd,),
    ]
    raw = await asyncio.to_thread(commands, sqlite_url, each)
    assert [piece for piece in FORBIDDEN if piece in raw] == []
    assert b"\x1b" not in raw
    assert b"QUJD" in raw  # as text, not as a command
    assert b"Two files." in raw


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
async def test_f131_a_kill_leaves_the_terminal_as_it_was(
    counter: Counter, sqlite_url: str, number: int, code: int
) -> None:
    await counter.store.close()

    def look() -> None:
        with playing(sqlite_url) as shown:
            shown.until("● live".encode())
            shown.kill(number)
            assert shown.ended() == code
            assert all(mode in shown.raw for mode in RESTORED)

    await asyncio.to_thread(look)


TERMS = ("xterm", "screen", "tmux", "linux", "vt100", "dumb", "no-such-term", "")
"""What terminals call themselves; the last says nothing."""


def as_it_was(url: str, term: str) -> list[str]:
    """Works and leaves in a terminal of this name; what was not put back."""
    with playing(url, env={"TERM": term}) as shown:
        before = termios.tcgetattr(shown.fd)
        shown.until("● live".encode())
        shown.shows("Hello?")
        while shown.until(b"\x1b[?2004h") or termios.tcgetattr(shown.fd) == before:
            shown.read()
        flow = termios.tcgetattr(shown.fd)[0] & termios.IXON
        shown.keys("n")
        shown.shows("only colleagues see this")
        shown.keys("half a q\x11\x13")  # flow control is not eaten by the terminal
        shown.shows("half a q")
        shown.kill(signal.SIGTERM)
        code = shown.ended()
        after = termios.tcgetattr(shown.fd)
        wrong = [mode.decode("ascii") for mode in RESTORED if mode not in shown.raw]
        wrong += ["flow control"] * bool(flow) + ["modes"] * (after != before)
        return wrong + [str(code)] * (code != 128 + signal.SIGTERM)


async def test_f131_every_kind_of_terminal_works_and_is_left_as_it_was(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.writes("Hello?")
    await counter.store.close()
    for some in (TERMS[:3], TERMS[3:6], TERMS[6:]):
        looks = [asyncio.to_thread(as_it_was, sqlite_url, term) for term in some]
        assert await asyncio.gather(*looks) == [[]] * len(some)


async def test_f131_an_error_ends_in_one_line_without_anybodys_data(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.store.close()

    def look() -> None:
        with playing(sqlite_url, "fails") as shown:
            assert shown.ended() == 1
            assert all(mode in shown.raw for mode in RESTORED)
            assert b"an error ended the console" in shown.raw
            assert b"Traceback" not in shown.raw
            assert b"4111111111111111" not in shown.raw

    await asyncio.to_thread(look)


async def test_sixteen_colours_without_unicode_say_everything(
    counter: Counter, sqlite_url: str
) -> None:
    await counter.writes("Hello?", subject="注文 ✓ naïve")
    await counter.store.close()

    def look() -> None:
        poor = {"TERM": "xterm-16color", "COLORTERM": "", "HANDOFF_ASCII": "1"}
        with playing(sqlite_url, env=poor) as shown:
            shown.until(b"* live")
            shown.keys("6")
            shown.shows("Hello?")
            shown.wait(0.35)
            shown.keys("t")
            shown.shows("YOU HOLD")
            shown.wait(0.2)
            assert b"38;2;" not in shown.raw
            assert b"38;5;" not in shown.raw
            assert "???? + na?ve" in shown.screen()
            assert [c for c in shown.screen() if not c.isascii()] == []
            row = next(n for n, s in enumerate(shown.lines()) if "???? + na" in s)
            assert shown.reversed_at(row)

    await asyncio.to_thread(look)


async def test_no_color_says_everything_in_words_and_symbols(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    await counter.writes("Hello?")
    app: HandoffApp = app_on(counter.store)
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: app._ready and app.screen_stack[-1].is_mounted)
        await press(pilot, "6")
        await until(pilot, lambda: "T-1" in pane_text(app, "banner"))
        await press(pilot, "t")
        await until(pilot, lambda: "■ YOU HOLD T-1" in pane_text(app, "banner"))
        strips = app.screen._compositor.render_strips()
        colours = {
            s.style.color.triplet
            for strip in strips
            for s in strip
            if s.style is not None
            and s.style.color is not None
            and s.style.color.triplet
        }
        assert all(c.red == c.green == c.blue for c in colours)
        assert any(
            s.style is not None and s.style.reverse and "YOU HOLD" in s.text
            for strip in strips
            for s in strip
        )


async def test_the_pane_that_has_the_focus_is_seen_without_colour(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    await counter.writes("Hello?")
    app = app_on(counter.store)
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: app._ready and app.screen_stack[-1].is_mounted)
        await press(pilot, "6")
        await until(pilot, lambda: "T-1" in pane_text(app, "banner"))
        await press(pilot, "t")
        await until(pilot, lambda: "YOU HOLD T-1" in pane_text(app, "banner"))
        looks: dict[str, object] = {}
        for _ in range(8):
            pane = desk_of(app).pane()
            await done(pilot)
            looks[pane] = look(app)
            await press(pilot, "tab")
            await until(pilot, lambda pane=pane: desk_of(app).pane() != pane)
        assert set(looks) >= {"queue", "timeline", "chart", "composer"}
        alike = [
            (one, other)
            for one, other in combinations(looks, 2)
            if looks[one] == looks[other]
        ]
        assert alike == []


def look(app: HandoffApp) -> list[tuple[str, bool, bool, bool]]:
    """What is on the screen but for its keys' line, with what is no colour."""
    strips = app.screen._compositor.render_strips()[:-1]
    return [
        (s.text, bool(s.style.bold), bool(s.style.reverse), bool(s.style.underline))
        for strip in strips
        for s in strip
        if s.style is not None
    ]
