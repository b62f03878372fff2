"""Every table, index and constraint.

Every row carries its ticket, so that the schema shards by ticket, and ids are made by
the caller. Times are aware and UTC, money is decimal text (see `columns`).

A `tickets` row holds the ticket's standing as JSON, and beside it the columns that
overviews filter and sort by; they are written together and never apart. Marks are 1
or NULL, because a partial index on `IS NOT NULL` serves both databases.
"""

from datetime import datetime

import sqlalchemy as sa

from store.columns import Exact, JsonText, Moment, Money, Packed

REVISION = "0001"
"""The newest migration: what a store of this program is at."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


_EXACT, _JSON, _MOMENT, _NUMBER = Exact(), JsonText(), Moment(), sa.BigInteger()
"""Shared by all columns: what a type finds out about a database is found out once."""


def _text(name: str, *, null: bool = False) -> sa.Column[str]:
    return sa.Column(name, _EXACT, nullable=null)


def _number(name: str, *, null: bool = False) -> sa.Column[int]:
    return sa.Column(name, _NUMBER, nullable=null)


def _moment(name: str, *, null: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, _MOMENT, nullable=null)


def _key(name: str) -> sa.Column[str]:
    return sa.Column(name, _EXACT, primary_key=True, nullable=False)


def _place(name: str) -> sa.Column[int]:
    return sa.Column(
        name, _NUMBER, primary_key=True, nullable=False, autoincrement=False
    )


def _json_text(name: str) -> sa.Column[object]:
    return sa.Column(name, _JSON, nullable=False)


def _of_ticket(*, key: bool = False) -> sa.Column[str]:
    owner = sa.ForeignKey("tickets.id")
    return sa.Column("ticket_id", _EXACT, owner, primary_key=key, nullable=False)


tickets = sa.Table(
    "tickets",
    metadata,
    _key("id"),
    _text("subject"),
    _text("channel"),
    _text("claim"),
    _text("origin"),
    _moment("created_at"),
    sa.Column("standing", _JSON, nullable=False),
    _number("version"),
    _number("change"),
    _text("status"),
    _moment("updated_at"),
    _text("customer", null=True),
    _text("customer_name", null=True),
    _text("held_by", null=True),
    _text("wanted_by", null=True),
    _text("owner", null=True),
    _text("offered_to", null=True),
    _text("run_id", null=True),
    _moment("due_since", null=True),
    _number("for_people", null=True),
    _number("at_agent", null=True),
    _number("approval", null=True),
    _number("paused", null=True),
    _moment("snoozed_until", null=True),
    _number("harm"),
    _number("harm_order"),
)

_BY_HARM = (tickets.c.harm, tickets.c.harm_order, tickets.c.id)


def _marked(
    name: str, mark: sa.Column[object], *columns: sa.ColumnElement[object]
) -> None:
    where = mark.is_not(None)
    sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)


sa.Index("ix_tickets_change", tickets.c.change)
sa.Index("ix_tickets_by_harm", *_BY_HARM)
sa.Index("ix_tickets_by_status", tickets.c.status, *_BY_HARM)
_marked("ix_tickets_due", tickets.c.due_since, tickets.c.due_since)
_marked("ix_tickets_for_people", tickets.c.for_people, *_BY_HARM)
_marked("ix_tickets_at_agent", tickets.c.at_agent, *_BY_HARM)
_marked("ix_tickets_approval", tickets.c.approval, tickets.c.approval, *_BY_HARM)
_marked("ix_tickets_held_by", tickets.c.held_by, tickets.c.held_by)
_marked("ix_tickets_wanted_by", tickets.c.wanted_by, tickets.c.wanted_by)
_marked("ix_tickets_owner", tickets.c.owner, tickets.c.owner)
_marked("ix_tickets_offered_to", tickets.c.offered_to, tickets.c.offered_to)
_marked("ix_tickets_customer", tickets.c.customer, tickets.c.customer)
_marked("ix_tickets_snoozed", tickets.c.snoozed_until, tickets.c.snoozed_until)

feed = sa.Table("feed", metadata, _place("id"), _number("position"))
"""SQLite's one counter of changes, raised within the write lock."""

journal = sa.Table(
    "journal",
    metadata,
    _of_ticket(key=True),
    _place("seq"),
    _moment("at"),
    _text("actor_kind"),
    _text("actor_name"),
    _text("kind"),
    _text("text", null=True),
    sa.Column("body", _JSON, nullable=False),
)

arrivals = sa.Table(
    "arrivals",
    metadata,
    _key("channel"),
    _key("external_id"),
    _of_ticket(),
    _number("seq"),
)
sa.Index("ix_arrivals_ticket", arrivals.c.ticket_id)

participants = sa.Table("participants", metadata, _of_ticket(key=True), _key("address"))

locks = sa.Table(
    "locks",
    metadata,
    _of_ticket(key=True),
    _number("token"),
    _text("holder_kind", null=True),
    _text("holder_name", null=True),
    _moment("since", null=True),
    _moment("expires_at", null=True),
    _text("wanted_by", null=True),
    _moment("wanted_since", null=True),
    sa.CheckConstraint(
        "(holder_kind IS NULL) = (holder_name IS NULL)", name="whole_holder"
    ),
)
_marked("ix_locks_expires_at", locks.c.expires_at, locks.c.expires_at)

bodies = sa.Table(
    "bodies",
    metadata,
    _of_ticket(key=True),
    sa.Column("digest", sa.LargeBinary(32), primary_key=True, nullable=False),
    sa.Column("content", Packed, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    _key("id"),
    _of_ticket(),
    _number("token"),
    _text("trigger"),
    _text("model"),
    _text("prompt_version"),
    _text("prompt_sha256"),
    sa.Column("prompt_digest", sa.LargeBinary(32), nullable=False),
    sa.Column("system_digest", sa.LargeBinary(32), nullable=False),
    sa.Column("tools_digest", sa.LargeBinary(32), nullable=False),
    _number("max_tokens"),
    _number("builder"),
    _text("staff_voice"),
    _moment("started_at"),
    _moment("ended_at", null=True),
    _text("stop", null=True),
    _text("detail", null=True),
    sa.Column("escalated", sa.Boolean, nullable=False),
    sa.Column("task_state", _JSON, nullable=False),
    sa.Column("cost_usd", Money, nullable=True),
    sa.UniqueConstraint("ticket_id", "token"),
    sa.Index("ix_runs_ended_at", "ended_at"),
)

turns = sa.Table(
    "turns",
    metadata,
    sa.Column(
        "run_id", _EXACT, sa.ForeignKey("runs.id"), primary_key=True, nullable=False
    ),
    _place("number"),
    _of_ticket(),
    _number("stamp"),
    _number("built_at"),
    _number("upto"),
    sa.Column("digest", sa.LargeBinary(32), nullable=False),
    _moment("requested_at"),
    sa.Column("response", _JSON, nullable=True),
    sa.Column("applied", sa.Boolean, nullable=False),
    sa.Column("folds", _NUMBER, nullable=True),
    sa.UniqueConstraint("ticket_id", "stamp"),
)

run_messages = sa.Table(
    "run_messages",
    metadata,
    _of_ticket(key=True),
    _place("position"),
    _place("stamp"),
    sa.Column("digest", sa.LargeBinary(32), nullable=False),
)
"""Which message stood at a position of the requests from a turn on (see `runs`)."""

decisions = sa.Table(
    "decisions",
    metadata,
    _key("id"),
    _of_ticket(),
    _text("state"),
    _moment("proposed_at"),
    _text("proposed_by"),
    sa.Column("four_eyes", sa.Boolean, nullable=False),
    sa.Column("document", _JSON, nullable=False),
    _text("first", null=True),
    _text("decided_by", null=True),
    _moment("decided_at", null=True),
    sa.Column("final_input", _JSON, nullable=False),
    _text("final_hash", null=True),
    _text("why", null=True),
    _text("object", null=True),
)
"""The proposal, which never changes, as one document; the verdict in columns.

What is acted on, as the verdict has it, stands beside it too, to be found by it.

On PostgreSQL a trigger guards who writes these columns (see `rights`).
"""
sa.Index("ix_decisions_ticket", decisions.c.ticket_id)
sa.Index("ix_decisions_state", decisions.c.state, decisions.c.proposed_at)
_marked("ix_decisions_object", decisions.c.object, decisions.c.object)

actions = sa.Table(
    "actions",
    metadata,
    _key("id"),
    _of_ticket(),
    _text("key"),
    _text("call"),
    _text("decision_id", null=True),
    _text("tool"),
    sa.Column("input", _JSON, nullable=False),
    sa.Column("amount", Money, nullable=True),
    _text("currency", null=True),
    _text("object", null=True),
    _text("identity", null=True),
    _number("token"),
    _text("policy", null=True),
    _text("actor_kind"),
    _text("actor_name"),
    _moment("intended_at"),
)
sa.Index("ix_actions_ticket", actions.c.ticket_id)
_marked("ix_actions_object", actions.c.object, actions.c.object)
sa.Index("ix_actions_tool", actions.c.tool, actions.c.intended_at)

action_events = sa.Table(
    "action_events",
    metadata,
    sa.Column(
        "action_id",
        _EXACT,
        sa.ForeignKey("actions.id"),
        primary_key=True,
        nullable=False,
    ),
    _place("n"),
    _of_ticket(),
    _moment("at"),
    _text("state"),
    _text("actor_kind"),
    _text("actor_name"),
    sa.Column("result", _JSON, nullable=True),
    _text("evidence", null=True),
)
sa.Index("ix_action_events_ticket", action_events.c.ticket_id)

outbox = sa.Table(
    "outbox",
    metadata,
    _key("message_id"),
    _of_ticket(),
    _number("seq"),
    _text("author_kind"),
    _text("author_name"),
    _text("channel"),
    _text("recipient"),
    _text("subject"),
    _text("text"),
    _number("covers"),
    _text("state"),
    _moment("state_at"),
    _number("waits", null=True),
    _moment("created_at"),
    _moment("not_before", null=True),
    _number("attempts"),
    _moment("delivered_at", null=True),
    _text("provider_id", null=True),
    _text("why", null=True),
    _text("in_reply_to", null=True),
)
sa.Index("ix_outbox_ticket", outbox.c.ticket_id)
sa.Index("ix_outbox_created", outbox.c.created_at)
_marked("ix_outbox_waits", outbox.c.waits, outbox.c.created_at)
_marked("ix_outbox_provider", outbox.c.provider_id, outbox.c.provider_id)
_STRANDED = outbox.c.state == "no_channel"
sa.Index(
    "ix_outbox_stranded",
    outbox.c.channel,
    sqlite_where=_STRANDED,
    postgresql_where=_STRANDED,
)

drafts = sa.Table(
    "drafts",
    metadata,
    _of_ticket(key=True),
    _key("operator"),
    _key("mode"),
    _text("text"),
    _number("written_at_seq"),
    _moment("updated_at"),
)

operators = sa.Table(
    "operators",
    metadata,
    _key("name"),
    _text("role"),
    sa.Column("disabled", sa.Boolean, nullable=False),
)

workers = sa.Table(
    "workers",
    metadata,
    _key("id"),
    _text("host"),
    _number("pid"),
    _moment("started_at"),
    _moment("seen_at"),
    sa.Column("channels", _JSON, nullable=False),
)

presence = sa.Table(
    "presence",
    metadata,
    _key("operator"),
    _key("console"),
    _text("ticket", null=True),
    _text("doing"),
    _moment("active_at"),
    _moment("seen_at"),
)
"""What each operator's console last said of itself; nothing is decided by it."""

rules = sa.Table(
    "rules", metadata, _key("version"), _moment("first_seen"), _json_text("tools")
)
"""The tools' policies as canonical JSON, by its sha256: append-only."""

house_acts = sa.Table(
    "house_acts",
    metadata,
    _place("n"),
    _moment("at"),
    _text("operator"),
    _text("act"),
    _text("whom", null=True),
    _text("why"),
)
"""What people did to the whole house and not to a ticket: append-only, like a journal.

The last `paused` or `resumed` says whether the agent is stopped everywhere.
"""

canned = sa.Table(
    "canned",
    metadata,
    _key("name"),
    _text("text"),
    _text("operator"),
    _moment("at"),
)
"""What the team has written already; an empty text was removed."""
