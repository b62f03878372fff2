"""The first schema."""

import sqlalchemy as sa
from alembic import op

from store.migrations.guard import guard

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:  # noqa: PLR0915 # one statement a table
    """Creates every table, and the feed's one counter."""
    op.create_table(
        "feed",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feed")),
    )
    op.create_table(
        "operators",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_operators")),
    )
    op.create_table(
        "tickets",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("standing", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.Column("customer", sa.Text(), nullable=True),
        sa.Column("customer_name", sa.Text(), nullable=True),
        sa.Column("held_by", sa.Text(), nullable=True),
        sa.Column("wanted_by", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("offered_to", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.Column("due_since", TIME, nullable=True),
        sa.Column("for_people", sa.BigInteger(), nullable=True),
        sa.Column("at_agent", sa.BigInteger(), nullable=True),
        sa.Column("approval", sa.BigInteger(), nullable=True),
        sa.Column("paused", sa.BigInteger(), nullable=True),
        sa.Column("snoozed_until", TIME, nullable=True),
        sa.Column("harm", sa.BigInteger(), nullable=False),
        sa.Column("harm_order", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tickets")),
    )
    op.create_index(
        "ix_tickets_at_agent",
        "tickets",
        ["harm", "harm_order", "id"],
        unique=False,
        sqlite_where=sa.text("at_agent IS NOT NULL"),
        postgresql_where=sa.text("at_agent IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_by_harm", "tickets", ["harm", "harm_order", "id"], unique=False
    )
    op.create_index(
        "ix_tickets_by_status",
        "tickets",
        ["status", "harm", "harm_order", "id"],
        unique=False,
    )
    op.create_index("ix_tickets_change", "tickets", ["change"], unique=False)
    op.create_index(
        "ix_tickets_customer",
        "tickets",
        ["customer"],
        unique=False,
        sqlite_where=sa.text("customer IS NOT NULL"),
        postgresql_where=sa.text("customer IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_due",
        "tickets",
        ["due_since"],
        unique=False,
        sqlite_where=sa.text("due_since IS NOT NULL"),
        postgresql_where=sa.text("due_since IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_for_people",
        "tickets",
        ["harm", "harm_order", "id"],
        unique=False,
        sqlite_where=sa.text("for_people IS NOT NULL"),
        postgresql_where=sa.text("for_people IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_held_by",
        "tickets",
        ["held_by"],
        unique=False,
        sqlite_where=sa.text("held_by IS NOT NULL"),
        postgresql_where=sa.text("held_by IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_offered_to",
        "tickets",
        ["offered_to"],
        unique=False,
        sqlite_where=sa.text("offered_to IS NOT NULL"),
        postgresql_where=sa.text("offered_to IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_owner",
        "tickets",
        ["owner"],
        unique=False,
        sqlite_where=sa.text("owner IS NOT NULL"),
        postgresql_where=sa.text("owner IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_snoozed",
        "tickets",
        ["snoozed_until"],
        unique=False,
        sqlite_where=sa.text("snoozed_until IS NOT NULL"),
        postgresql_where=sa.text("snoozed_until IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_approval",
        "tickets",
        ["approval", "harm", "harm_order", "id"],
        unique=False,
        sqlite_where=sa.text("approval IS NOT NULL"),
        postgresql_where=sa.text("approval IS NOT NULL"),
    )
    op.create_index(
        "ix_tickets_wanted_by",
        "tickets",
        ["wanted_by"],
        unique=False,
        sqlite_where=sa.text("wanted_by IS NOT NULL"),
        postgresql_where=sa.text("wanted_by IS NOT NULL"),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("pid", sa.BigInteger(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.Column("channels", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workers")),
    )
    op.create_table(
        "actions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("call", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.Text(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("input", sa.Text(), nullable=False),
        sa.Column("amount", sa.Text(), nullable=True),
        sa.Column("currency", sa.Text(), nullable=True),
        sa.Column("object", sa.Text(), nullable=True),
        sa.Column("identity", sa.Text(), nullable=True),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=True),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("intended_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_actions_ticket_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_actions")),
    )
    op.create_index(
        "ix_actions_object",
        "actions",
        ["object"],
        unique=False,
        sqlite_where=sa.text("object IS NOT NULL"),
        postgresql_where=sa.text("object IS NOT NULL"),
    )
    op.create_index("ix_actions_ticket", "actions", ["ticket_id"], unique=False)
    op.create_index("ix_actions_tool", "actions", ["tool", "intended_at"], unique=False)
    op.create_table(
        "arrivals",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_arrivals_ticket_id")
        ),
        sa.PrimaryKeyConstraint("channel", "external_id", name=op.f("pk_arrivals")),
    )
    op.create_index("ix_arrivals_ticket", "arrivals", ["ticket_id"], unique=False)
    op.create_table(
        "bodies",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_bodies_ticket_id")
        ),
        sa.PrimaryKeyConstraint("ticket_id", "digest", name=op.f("pk_bodies")),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("proposed_at", TIME, nullable=False),
        sa.Column("proposed_by", sa.Text(), nullable=False),
        sa.Column("four_eyes", sa.Boolean(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("first", sa.Text(), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", TIME, nullable=True),
        sa.Column("final_input", sa.Text(), nullable=False),
        sa.Column("final_hash", sa.Text(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("object", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_decisions_ticket_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
    )
    op.create_index(
        "ix_decisions_state", "decisions", ["state", "proposed_at"], unique=False
    )
    op.create_index(
        "ix_decisions_object",
        "decisions",
        ["object"],
        unique=False,
        sqlite_where=sa.text("object IS NOT NULL"),
        postgresql_where=sa.text("object IS NOT NULL"),
    )
    op.create_index("ix_decisions_ticket", "decisions", ["ticket_id"], unique=False)
    op.create_table(
        "drafts",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("written_at_seq", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_drafts_ticket_id")
        ),
        sa.PrimaryKeyConstraint(
            "ticket_id", "operator", "mode", name=op.f("pk_drafts")
        ),
    )
    op.create_table(
        "journal",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_journal_ticket_id")
        ),
        sa.PrimaryKeyConstraint("ticket_id", "seq", name=op.f("pk_journal")),
    )
    op.create_table(
        "locks",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("holder_kind", sa.Text(), nullable=True),
        sa.Column("holder_name", sa.Text(), nullable=True),
        sa.Column("since", TIME, nullable=True),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("wanted_by", sa.Text(), nullable=True),
        sa.Column("wanted_since", TIME, nullable=True),
        sa.CheckConstraint(
            "(holder_kind IS NULL) = (holder_name IS NULL)", name="whole_holder"
        ),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_locks_ticket_id")
        ),
        sa.PrimaryKeyConstraint("ticket_id", name=op.f("pk_locks")),
    )
    op.create_index(
        "ix_locks_expires_at",
        "locks",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("expires_at IS NOT NULL"),
        postgresql_where=sa.text("expires_at IS NOT NULL"),
    )
    op.create_table(
        "outbox",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("author_kind", sa.Text(), nullable=False),
        sa.Column("author_name", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("covers", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_at", TIME, nullable=False),
        sa.Column("waits", sa.BigInteger(), nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("not_before", TIME, nullable=True),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("delivered_at", TIME, nullable=True),
        sa.Column("provider_id", sa.Text(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.Column("in_reply_to", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_outbox_ticket_id")
        ),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_outbox")),
    )
    op.create_index("ix_outbox_created", "outbox", ["created_at"], unique=False)
    op.create_index(
        "ix_outbox_provider",
        "outbox",
        ["provider_id"],
        unique=False,
        sqlite_where=sa.text("provider_id IS NOT NULL"),
        postgresql_where=sa.text("provider_id IS NOT NULL"),
    )
    op.create_index(
        "ix_outbox_stranded",
        "outbox",
        ["channel"],
        unique=False,
        sqlite_where=sa.text("state = 'no_channel'"),
        postgresql_where=sa.text("state = 'no_channel'"),
    )
    op.create_index("ix_outbox_ticket", "outbox", ["ticket_id"], unique=False)
    op.create_index(
        "ix_outbox_waits",
        "outbox",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("waits IS NOT NULL"),
        postgresql_where=sa.text("waits IS NOT NULL"),
    )
    op.create_table(
        "participants",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_participants_ticket_id")
        ),
        sa.PrimaryKeyConstraint("ticket_id", "address", name=op.f("pk_participants")),
    )
    op.create_table(
        "run_messages",
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("stamp", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_run_messages_ticket_id")
        ),
        sa.PrimaryKeyConstraint(
            "ticket_id", "position", "stamp", name=op.f("pk_run_messages")
        ),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_version", sa.Text(), nullable=False),
        sa.Column("prompt_sha256", sa.Text(), nullable=False),
        sa.Column("prompt_digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("system_digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("tools_digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("max_tokens", sa.BigInteger(), nullable=False),
        sa.Column("builder", sa.BigInteger(), nullable=False),
        sa.Column("staff_voice", sa.Text(), nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME, nullable=True),
        sa.Column("stop", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("escalated", sa.Boolean(), nullable=False),
        sa.Column("task_state", sa.Text(), nullable=False),
        sa.Column("cost_usd", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_runs_ticket_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
        sa.UniqueConstraint("ticket_id", "token", name=op.f("uq_runs_ticket_id_token")),
    )
    op.create_index("ix_runs_ended_at", "runs", ["ended_at"])
    op.create_table(
        "action_events",
        sa.Column("action_id", sa.Text(), nullable=False),
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("actor_kind", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["action_id"], ["actions.id"], name=op.f("fk_action_events_action_id")
        ),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_action_events_ticket_id")
        ),
        sa.PrimaryKeyConstraint("action_id", "n", name=op.f("pk_action_events")),
    )
    op.create_index(
        "ix_action_events_ticket", "action_events", ["ticket_id"], unique=False
    )
    op.create_table(
        "turns",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("ticket_id", sa.Text(), nullable=False),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
        sa.Column("built_at", sa.BigInteger(), nullable=False),
        sa.Column("upto", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(length=32), nullable=False),
        sa.Column("requested_at", TIME, nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("applied", sa.Boolean(), nullable=False),
        sa.Column("folds", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_turns_run_id")),
        sa.ForeignKeyConstraint(
            ["ticket_id"], ["tickets.id"], name=op.f("fk_turns_ticket_id")
        ),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "ticket_id", "stamp", name=op.f("uq_turns_ticket_id_stamp")
        ),
    )
    op.create_table(
        "presence",
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("console", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Text(), nullable=True),
        sa.Column("doing", sa.Text(), nullable=False),
        sa.Column("active_at", TIME, nullable=False),
        sa.Column("seen_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("operator", "console", name=op.f("pk_presence")),
    )
    op.create_table(
        "house_acts",
        sa.Column("n", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("whom", sa.Text(), nullable=True),
        sa.Column("why", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_house_acts")),
    )
    op.create_table(
        "canned",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("operator", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_canned")),
    )
    op.create_table(
        "rules",
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("first_seen", TIME, nullable=False),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("version", name=op.f("pk_rules")),
    )
    op.execute("INSERT INTO feed (id, position) VALUES (1, 0)")
    if op.get_bind().dialect.name == "postgresql":
        schema = op.get_bind().scalar(sa.text("SELECT quote_ident(current_schema())"))
        for statement in guard(schema or "public"):
            op.get_bind().exec_driver_sql(
                statement, execution_options={"no_parameters": True}
            )
