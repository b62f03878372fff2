"""What is said in lines, without a terminal: widths, times, keys, colours."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import partial

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from console.canned import values_of
from console.keymap import Here, command_for, key_named, with_keys, wrong_key
from console.keytable import COMMANDS
from console.overview import Overview
from console.theme import DARK, LIGHT, made_from
from console.when import moment
from console.widgets.banner import banner_line
from console.widgets.card_lines import card_lines, inline_lines
from console.widgets.overview_lines import hold_line, overview_lines
from console.widgets.sight import Sight
from console.widgets.spans import in_ascii, plain, width_of
from console.widgets.timeline_items import Item
from console.widgets.timeline_lines import lines_of
from console.widgets.timeline_values import Reader
from console.wording import doing
from core.decision import Operator, Role
from core.journal import Entry, Snoozed
from core.ports import Pause, Presence, Spent
from core.ticket import TicketId, operator
from core.written import Written, filled
from tests.console.sample_desk import COUNTS, kitchen, parcel, with_mira
from tests.console.shown import NOW
from tests.zoo import HOSTILE

SIGHT = Sight(me="Noor", now=NOW, zone=UTC, width=60)
ON_SOLID = ("yours", "wait", "harm", "ok")
TEXTS = ("yours", "wait", "harm", "ok", "agent", "buyer", "note", "dim", "faint")


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_every_text_stands_out_from_every_ground_that_it_is_on(theme) -> None:
    colours = theme.variables | {"text": theme.foreground}
    grounds = {n: colours[n] for n in ("bar", "under", "still")}
    grounds["background"] = theme.background
    weak = []
    for name in (*TEXTS, "text"):
        for ground, colour in grounds.items():
            ratio = contrast(colours[name], colour)
            if ratio < 4.5:
                weak.append((name, ground, round(ratio, 2)))
    for name in ON_SOLID:
        ratio = contrast(colours["on-solid"], colours[name])
        if ratio < 4.5:
            weak.append(("on-solid", name, round(ratio, 2)))
    assert weak == []


OTHERS = sorted(n for n, t in BUILTIN_THEMES.items() if not t.ansi)


@pytest.mark.parametrize("name", OTHERS)
def test_every_text_stands_out_in_the_librarys_own_themes_too(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    made = made_from(theme)
    grounds = [made[n] for n in ("bar", "under", "still")]
    grounds.append(theme.background or made["on-solid"])
    weak = [(t, g) for t in TEXTS for g in grounds if contrast(made[t], g) < 4.5]
    solids = [n for n in ON_SOLID if contrast(made["on-solid"], made[n]) < 4.5]
    assert (weak, solids) == ([], [])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2)."""

    def light(colour: str) -> float:
        parts = (part / 255 for part in Color.parse(colour).rgb)
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", [40, 44, 58, 64, 100])
def test_the_banner_says_what_matters_and_its_key_at_every_width(width: int) -> None:
    sight = replace(SIGHT, width=width)
    for scene, words, key in (
        (kitchen(), "refund 118.00 EUR" if width >= 44 else "118.00", " a card"),
        (parcel(), "YOU HOLD", " w look"),
        (with_mira(), "Mira holds it", ""),
    ):
        made = banner_line(scene.ticket, scene.standing(), sight, workers=1)
        assert width_of(made) == width
        assert words in plain([made])
        assert key in plain([made])


@pytest.mark.parametrize("width", [60, 65, 73])
def test_the_banner_of_a_decision_has_both_keys_on_every_desk(width: int) -> None:
    scene = kitchen()
    sight = replace(SIGHT, width=width)
    made = plain([banner_line(scene.ticket, scene.standing(), sight, workers=1)])
    assert "a card · t take" in made
    assert scene.ticket in made


def test_f08_what_the_desk_shows_of_a_proposal_says_where_it_is_cut() -> None:
    history = kitchen().history()
    proposal = history.decisions[0]
    many = dict.fromkeys(("one", "two", "three", "four"), "a word " * 20)
    for arguments, more in ((many, ""), (many | {"five": ""}, "and 1 more on the")):
        cut_off = replace(proposal, input=arguments, rule="money over 50 " * 9)
        shown = plain(inline_lines(cut_off, history, SIGHT)).splitlines()
        lines = [text for text in shown if "a word" in text or "money over" in text]
        assert len(lines) == 6  # of the rule two, its end matters most
        assert all(len(text) <= 60 for text in lines)
        assert all(text.endswith("…") for text in (*lines[:4], lines[5]))
        assert more in "\n".join(shown)


def test_f08_the_card_shows_what_the_first_of_two_changed() -> None:
    history = kitchen().history()
    proposal = replace(
        history.decisions[0],
        input={"order_id": "O-1", "amount": "556.00"},
        first="Sam",
        four_eyes=True,
        final_input={"order_id": "O-1", "amount": "900.00"},
        amount_in="amount",
    )
    for made in (inline_lines, partial(card_lines, on="O-1")):
        shown = plain(made(proposal, history, SIGHT))
        assert "900.00" in shown.splitlines()[0]
        assert "CHANGED by Sam" in shown
    assert "amount = 556.00" in shown


def test_rule_06_only_who_may_decide_is_offered_the_keys_that_do() -> None:
    history = kitchen().history()
    proposal = history.decisions[0]
    both = replace(proposal, four_eyes=True, first="Noor")
    for decision, sight, words in (
        (proposal, SIGHT, "y approves there, e edits, x rejects"),
        (proposal, replace(SIGHT, supervisor=False), "a supervisor decides"),
        (both, SIGHT, "you approved; another person must"),
        (both, replace(SIGHT, me="Sam"), "y approves there, e edits, x rejects"),
        (replace(both, proposed_by="Sam"), replace(SIGHT, me="Sam"), "you proposed it"),
    ):
        last = plain(inline_lines(decision, history, replace(sight, width=80))[-1:])
        assert words in last
        assert ("y approves" in last) == words.startswith("y approves")


def test_a_ticket_that_sleeps_says_until_when_in_the_persons_time() -> None:
    scene = with_mira()
    east = timezone(timedelta(hours=5))
    sight = replace(SIGHT, width=100, zone=east)
    for until_, words in (
        (NOW + timedelta(hours=2), "16:15"),
        (NOW + timedelta(days=2), "14 Mar 14:15"),
    ):
        asleep = replace(
            scene.standing(),
            held_by=None,
            held_since=None,
            snoozed_until=until_.isoformat(),
        )
        banner = plain([banner_line(scene.ticket, asleep, sight, workers=1)])
        assert f"Asleep until {words} · a message of the buyer wakes it" in banner
        entry = Entry(
            seq=9,
            at=NOW,
            actor=operator("Noor"),
            body=Snoozed(until=until_.isoformat()),
        )
        reader = Reader(me="Noor", buyer="", zone=east, width=80)
        said = plain(lines_of(Item(entry=entry), reader, opened=False))
        assert f"Noor lets it sleep until {words}" in said


def test_a_pause_of_everything_is_said_with_its_author() -> None:
    stopped = replace(SIGHT, width=80, stopped="by Sam: prompt regression")
    resting = kitchen()
    resting.decisions.clear()
    resting.entries = [e for e in resting.entries if e.kind != "decision"]
    made = banner_line(resting.ticket, resting.standing(), stopped, workers=1)
    assert "PAUSED by Sam: prompt regression" in plain([made])


def test_a_moment_is_what_a_person_means() -> None:
    now = datetime(2026, 3, 12, 15, 30, tzinfo=UTC)  # a Thursday
    assert moment("30m", now, UTC) == now + timedelta(minutes=30)
    assert moment(" 2d ", now, UTC) == now + timedelta(days=2)
    assert moment("17:30", now, UTC) == now.replace(hour=17)
    assert moment("9:00", now, UTC) == now.replace(day=13, hour=9, minute=0)
    assert moment("tomorrow", now, UTC) == now.replace(day=13, hour=9, minute=0)
    assert moment("mon 8:15", now, UTC) == now.replace(day=16, hour=8, minute=15)
    assert moment("thursday", now, UTC) == now.replace(day=19, hour=9, minute=0)
    for no_time in ("", "9", "soon", "25:00", "2", "mon 99", "-3h", "[/]"):
        assert moment(no_time, now, UTC) is None


def test_a_persons_keys_take_the_place_of_ours() -> None:
    commands = with_keys(COMMANDS, {"take": "y", "copy": "%", "send": "f5"})
    here = Here(ticket=True)
    assert command_for(commands, "y", here).id == "take"
    assert command_for(commands, "percent_sign", here).id == "copy"
    assert command_for(commands, "t", here) is None
    assert key_named("?") == "question_mark"
    assert key_named("esc") == "escape"
    assert wrong_key(COMMANDS, "take", "alt+x") is not None
    assert wrong_key(COMMANDS, "fly", "x") is not None
    assert wrong_key(COMMANDS, "send", "x") is not None
    assert wrong_key(COMMANDS, "take", "ctrl+t") is None


def test_no_key_has_two_commands_where_both_are_possible() -> None:
    everything = Here(ticket=True, mine=True, held=True, supervisor=True, runs=True)
    for pane in ("queue", "timeline", "chart"):
        here = replace(everything, pane=pane)
        keys = [k for c in COMMANDS if c.when(here) for k in c.keys]
        assert sorted(keys) == sorted(set(keys)), pane


def test_values_of_a_written_reply_are_never_looked_at_again() -> None:
    history = kitchen().history()
    values = values_of(history, "Noor") | {"name": "{ticket}"}
    said = Written(name="x", reply="{name} {ticket} {order} {nothing} {")
    assert (
        filled(said, values).reply
        == "{ticket} T-40219 SU-88421, part 2 of 2 {nothing} {"
    )


def test_a_colleague_is_near_typing_away_or_gone() -> None:
    seen = Presence(
        operator="Mira",
        ticket=TicketId("T-1"),
        doing="typing",
        active_at=NOW,
        seen_at=NOW,
    )
    assert doing(seen, "T-1", NOW) == " · types now"
    assert doing(seen, "T-2", NOW) == ""
    away = replace(seen, active_at=NOW - timedelta(minutes=12))
    assert doing(away, "T-2", NOW) == ", away 12 min"
    gone = replace(seen, seen_at=NOW - timedelta(minutes=2))
    assert doing(gone, "T-1", NOW) == ", console closed"


def test_f128_the_overview_cleanses_every_name() -> None:
    bad = "".join(HOSTILE.values())
    row = replace(with_mira().row(), subject=bad)
    seen = Overview(
        held=(row,),
        runs=(),
        waiting=(row,),
        counts=COUNTS,
        workers=(),
        decisions=(),
        approved=(),
        undelivered=(),
        moved={bad: {bad: Decimal(556), "GBP": Decimal("20.00")}},
        spent=Spent(runs=2, cost_usd=Decimal("0.5"), unknown=1),
        people=(Operator(name=bad, role=Role.AGENT),),
        presences=(
            Presence(
                operator=bad,
                ticket=TicketId(bad),
                doing="typing",
                active_at=NOW,
                seen_at=NOW,
            ),
        ),
        pause=Pause(by=bad, why=bad, at=NOW),
        now=NOW,
    )
    text = plain([*overview_lines(seen, SIGHT), hold_line(row, seen, SIGHT)])
    assert "PAUSED by" in text
    assert all(c == "\n" or (c.isprintable() and c != "\u202e") for c in text)


def test_without_unicode_every_symbol_has_its_letter() -> None:
    assert in_ascii("▲ T-1 ✓ refund · “x”") == '^ T-1 + refund - "x"'
    assert in_ascii("返品") == "????"


def test_f131_no_bare_letter_acts_while_somebody_writes() -> None:
    writing = Here(
        pane="composer", typing=True, ticket=True, mine=True, held=True, pending=True,
        withheld=True, supervisor=True, runs=True, undo=True, lost=True, away=True,
    )  # fmt: skip
    keys = {key for c in COMMANDS for key in c.keys}
    acting = {key for key in keys if command_for(COMMANDS, key, writing) is not None}
    bare = {key for key in acting if len(key) == 1 or key in {"space", "enter"}}
    assert bare == set()
    assert acting <= {"escape", "tab", "shift+tab", "f1", "f2"} | {
        key for key in keys if key.startswith("ctrl+")
    }
