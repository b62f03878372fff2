"""Every action of the desk: one table of named commands.

Hint line, help, palette and the keys themselves are made from it, so none can tell
another story. The first possible command gets the key, so the most particular stand
first.
"""

from console.keymap import Command, Here, key_names
from console.wording import VIEWS


def _timeline(here: Here) -> bool:
    return here.pane == "timeline" and here.ticket


MINE = "Take the ticket over first"
MISSING = "There is no ticket here"
THEIRS = "A colleague holds this ticket"
OURS = "You hold this ticket already"
SUPERVISOR = "A supervisor can do this, with a ticket that somebody else has"

COMMANDS: tuple[Command, ...] = (
    Command(
        id="send",
        keys=("ctrl+s", "ctrl+enter"),
        words="send what is written",
        short="send",
        when=lambda h: h.pane == "composer",
        typing=True,
        meant="nothing was sent",
        after="text",
    ),
    Command(
        id="canned",
        keys=("ctrl+o",),
        words="a reply or a macro that is written already",
        short="written reply",
        when=lambda h: (
            h.mine and h.pane != "find" and not (h.pane == "composer" and h.noting)
        ),
        typing=True,
        needs=MINE,
        writes=True,
    ),
    Command(
        id="retry",
        keys=("ctrl+r",),
        words="look for the store again now",
        short="retry",
        when=lambda h: h.lost,
        typing=True,
        group="Desk",
    ),
    Command(id="down", keys=("j", "down"), words="down", short="move", group="Move"),
    Command(id="up", keys=("k", "up"), words="up", group="Move"),
    Command(id="first", keys=("g", "home"), words="first", group="Move"),
    Command(id="last", keys=("G", "end"), words="last", group="Move"),
    Command(
        id="page_down", keys=("ctrl+d", "pagedown"), words="a page down", group="Move"
    ),
    Command(id="page_up", keys=("ctrl+u", "pageup"), words="a page up", group="Move"),
    Command(
        id="open",
        keys=("enter",),
        words="open the ticket",
        short="open",
        when=lambda h: (h.ticket or h.awaits) and h.pane == "queue",
        group="Move",
    ),
    Command(
        id="take",
        keys=("t",),
        words="take the ticket over",
        short="take over",
        when=lambda h: h.ticket and not h.held,
        meant="nothing was taken over",
        needs=lambda h: OURS if h.mine else THEIRS,
    ),
    Command(
        id="decline",
        keys=("x",),
        words="decline the ticket that a colleague offers you",
        short="decline",
        when=lambda h: h.offered,
        meant="nothing was declined",
        needs="No colleague offers you this ticket",
    ),
    Command(
        id="reply",
        keys=("r",),
        words="write to the buyer",
        short="reply",
        when=lambda h: h.mine,
        needs=MINE,
        writes=True,
    ),
    Command(
        id="undo",
        keys=("u", "ctrl+t"),
        words="take your reply back before it leaves, or a discarded draft",
        short="undo",
        when=lambda h: h.undo,
        typing=True,
        needs="Nothing of yours can be taken back now",
    ),
    Command(
        id="withheld",
        keys=("w",),
        words="look at the agent's withheld replies",
        short="withheld",
        when=lambda h: h.mine and h.withheld,
        needs="Nothing of the agent is withheld for you here",
    ),
    Command(
        id="give_back",
        keys=("R",),
        words="give the ticket back",
        short="give back",
        when=lambda h: h.mine,
        needs="You do not hold this ticket",
    ),
    Command(
        id="discard",
        keys=("D",),
        words="discard the draft: what you wrote and did not send",
        short="discard draft",
        when=lambda h: h.drafted,
        meant="nothing was discarded",
        needs="Nothing unsent of yours is written here",
    ),
    Command(
        id="decide",
        keys=("a",),
        words="open the decision's card",
        short="approve",
        when=lambda h: h.pending,
        needs="No decision waits on this ticket",
    ),
    Command(
        id="settle",
        keys=("d",),
        words="say what became of an action in doubt",
        short="settle",
        when=lambda h: h.mine and h.doubts,
        needs="Nothing is in doubt on a ticket that you hold",
    ),
    Command(
        id="act",
        keys=("A",),
        words="use a tool, or carry out what was approved",
        short="carry out",
        when=lambda h: h.mine,
        hinted=lambda h: h.ready,
        needs=MINE,
    ),
    Command(
        id="identity",
        keys=("i",),
        words="record who the buyer is, or revoke it",
        when=lambda h: h.mine,
        needs=MINE,
    ),
    Command(
        id="triage",
        keys=("m",),
        words="change category and priority",
        when=lambda h: h.ticket and (h.mine or not h.held),
        needs=THEIRS,
    ),
    Command(
        id="state",
        keys=("M",),
        words="amend what the agent works with",
        when=lambda h: h.mine,
        needs=MINE,
    ),
    Command(
        id="force",
        keys=("T",),
        words="take it away from whoever has it, at once",
        when=lambda h: h.ticket and not h.mine,
        needs=SUPERVISOR,
        supervisor=True,
    ),
    Command(
        id="transfer",
        keys=("X",),
        words="give a colleague's ticket to another, or back",
        when=lambda h: h.held and not h.mine,
        needs=SUPERVISOR,
        supervisor=True,
    ),
    Command(
        id="claim",
        keys=("c",),
        words="look after it, or no longer; the agent goes on",
        when=lambda h: h.ticket and (h.mine or not h.held),
        meant="nothing was claimed",
        needs=THEIRS,
    ),
    Command(
        id="whisper",
        keys=("W",),
        words="a note for the agent, while it works",
        when=lambda h: h.ticket,
        needs=MISSING,
    ),
    Command(
        id="snooze",
        keys=("z",),
        words="let it sleep until a time; a message wakes it",
        when=lambda h: h.ticket and (h.mine or not h.held),
        needs=THEIRS,
    ),
    Command(
        id="pause",
        keys=("P",),
        words="stop the agent on this ticket, or let it go on",
        when=lambda h: h.ticket,
        meant="nothing was paused",
        needs=MISSING,
    ),
    Command(
        id="replay",
        keys=("p",),
        words="a run turn by turn: request, answer, effects",
        short="replay",
        when=lambda h: h.ticket and h.runs,
        needs="The agent has not worked on this ticket",
    ),
    Command(
        id="next_match",
        keys=("n",),
        words="next match",
        short="next",
        when=lambda h: _timeline(h) and h.searching,
        group="Move",
    ),
    Command(
        id="previous_match",
        keys=("N",),
        words="match before",
        when=lambda h: _timeline(h) and h.searching,
        group="Move",
    ),
    Command(
        id="note",
        keys=("n",),
        words="write a note that the buyer never sees",
        short="note",
        when=lambda h: h.ticket,
        needs=MISSING,
        writes=True,
    ),
    Command(
        id="expand",
        keys=("space", "enter"),
        words="open or close the entry",
        short="expand",
        when=lambda h: _timeline(h) and h.opens,
    ),
    Command(
        id="next_person",
        keys=("h",),
        words="next entry of a person",
        when=_timeline,
        group="Move",
    ),
    Command(
        id="next_error",
        keys=("e",),
        words="next tool error",
        when=_timeline,
        group="Move",
    ),
    Command(
        id="find",
        keys=("slash",),
        words="filter the queue, search the timeline",
        short="filter",
        group="Desk",
    ),
    Command(
        id="of_buyer",
        keys=("b",),
        words="all tickets from this buyer's address",
        when=lambda h: h.ticket,
        needs=MISSING,
    ),
    Command(
        id="copy",
        keys=("y",),
        words="copy the ticket's name, or the entry's text",
        when=lambda h: h.ticket,
        needs=MISSING,
    ),
    Command(
        id="back",
        keys=("escape",),
        words="back",
        short="back",
        when=lambda h: h.away or h.typing,
        typing=True,
        group="Move",
    ),
    Command(
        id="next_pane", keys=("tab",), words="next pane", typing=True, group="Move"
    ),
    Command(
        id="previous_pane",
        keys=("shift+tab",),
        words="pane before",
        typing=True,
        group="Move",
    ),
    Command(id="zoom", keys=("plus",), words="this pane alone, or all", group="Desk"),
    *(
        Command(id=f"view:{view}", keys=(key,), words=f"view: {words}", group="Views")
        for key, view, words, _ in VIEWS
    ),
    Command(
        id="supervisor",
        keys=("s",),
        words="who has what, workers, ages, approvals, troubles",
        short="overview",
        group="Desk",
    ),
    Command(
        id="pause_all",
        keys=(),
        words="stop the agent everywhere, or let it go on",
        supervisor=True,
        group="Desk",
        needs="A supervisor stops the agent everywhere",
    ),
    Command(
        id="people",
        keys=("O",),
        words="who works here",
        group="Desk",
    ),
    Command(
        id="settings",
        keys=("S",),
        words="what is in force, and where it is set",
        group="Desk",
    ),
    Command(
        id="palette",
        keys=("colon", "ctrl+p"),
        words="all actions",
        short="actions",
        group="Desk",
        typing=True,
    ),
    Command(
        id="help",
        keys=("question_mark", "f1"),
        words="the keys of where you are",
        short="keys",
        group="Desk",
        typing=True,
    ),
    Command(id="theme", keys=("f2",), words="dark or light", typing=True, group="Desk"),
    Command(
        id="suspend",
        keys=("ctrl+z",),
        words="back to the shell for a while; fg comes back",
        group="Desk",
        typing=True,
    ),
    Command(
        id="quit",
        keys=("q",),
        words="leave; holds stay",
        group="Desk",
        meant="still here",
    ),
)
"""All commands, the most particular first."""

KEYS = key_names(COMMANDS)
"""The key that is said of each, as long as nobody wants another."""
