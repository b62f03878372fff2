"""PostgreSQL's guard of the tickets: whose they are, they are by plain SQL too.

What the flows fence, the database refuses as well where it can tell: who was disabled
does nothing, even where nobody was there to revoke a grant, another's hold is
ended by a supervisor, a person speaks, acts and writes drafts under their own name, a
person's words to a buyer and calls of tools are those of the holder, what was committed
to a buyer never changes, and a verdict is told by who gives it.

What it can't tell is left to the flows. A worker's login is no person and moves locks
as runs do; a lock that passes to an operator is journaled in their name by whoever
passes it on, and a colleague's reply that went another way by whoever brings it in.

Most conditions stand in the triggers, so that a row of everyday costs no call.
"""

_TRIGGER = """
CREATE FUNCTION {{schema}}.{name}() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  wrong text := NULL;
BEGIN
  IF {{schema}}.handoff_administers() THEN
    RETURN NEW;
  END IF;
{rule}
  IF {{schema}}.handoff_disabled() THEN
    wrong := 'who was disabled changes nothing';
  END IF;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION '%', wrong USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$
"""

WORKS_HERE = """
CREATE FUNCTION {schema}.handoff_works_here() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM {schema}.operators o WHERE o.name = session_user);
END $$
"""
"""Whether the login is a person's."""

_LOCKS = """
  IF NEW.ticket_id <> OLD.ticket_id OR NEW.token < OLD.token THEN
    wrong := 'a fencing token only grows';
  ELSIF {schema}.handoff_supervises() THEN
    NULL;
  ELSIF OLD.holder_kind = 'operator' THEN
    IF OLD.holder_name <> session_user AND EXISTS (
      SELECT FROM {schema}.operators o
      WHERE o.name = OLD.holder_name AND NOT o.disabled
    ) THEN
      wrong := 'only a supervisor ends the hold of another';
    END IF;
  ELSIF OLD.holder_kind = 'run' AND {schema}.handoff_works_here()
    AND NEW.holder_name IS NOT NULL
    AND NEW.holder_name IS DISTINCT FROM OLD.wanted_by
    AND OLD.expires_at > clock_timestamp()
  THEN
    wrong := 'only a supervisor takes a ticket from a run that lives';
  END IF;
"""

_FIXED = (
    *("message_id", "ticket_id", "seq", "author_kind", "author_name"),
    *("channel", "recipient", "subject", "text", "covers"),
)


def _differ(columns: tuple[str, ...]) -> str:
    before = ", ".join(f"OLD.{name}" for name in columns)
    after = ", ".join(f"NEW.{name}" for name in columns)
    return f"({before}) IS DISTINCT FROM ({after})"


_BY_HOLDER = """
  IF NEW.{who}_kind = 'operator' AND NEW.{who}_name <> session_user THEN
    wrong := '{own_name}';
  ELSIF (NEW.{who}_kind = 'operator' OR {{schema}}.handoff_works_here())
    AND NOT EXISTS (
      SELECT FROM {{schema}}.locks l
      WHERE l.ticket_id = NEW.ticket_id AND l.holder_name = NEW.{who}_name
        AND l.holder_kind = CASE NEW.{who}_kind WHEN 'agent' THEN 'run'
          ELSE NEW.{who}_kind END
    )
  THEN
    wrong := '{holds}';
  END IF;
"""

_OUTBOX_NEW = _BY_HOLDER.format(
    who="author",
    own_name="a reply is kept under the name of who gives it",
    holds="who answers a buyer holds the ticket",
)

_ACTIONS = _BY_HOLDER.format(
    who="actor",
    own_name="an action is kept under the name of who does it",
    holds="who acts holds the ticket",
)

_OUTBOX_CHANGED = """
  IF {fixed} THEN
    wrong := 'what was committed to a buyer never changes';
  ELSIF OLD.state IN ('discarded', 'delivered')
    OR (OLD.state = 'withheld' AND NEW.state <> 'discarded')
  THEN
    wrong := 'a reply does not go from ' || OLD.state || ' to ' || NEW.state;
  ELSIF NEW.state = 'discarded' AND NOT EXISTS (
    SELECT FROM {schema}.locks l
    WHERE l.ticket_id = NEW.ticket_id AND l.holder_kind = 'operator'
      AND l.holder_name = session_user
  ) THEN
    wrong := 'who discards a reply holds the ticket';
  END IF;
"""

_DECISION_OF_ACTION = """
  IF NEW.decision_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM {schema}.decisions d
    WHERE d.id = NEW.decision_id AND d.ticket_id = NEW.ticket_id
      AND d.state IN ('approved', 'overridden')
  ) THEN
    wrong := 'only an approved decision is executed';
  END IF;
"""

_JOURNAL = """
  IF NEW.actor_kind = 'operator' AND NEW.actor_name <> session_user
    AND NEW.kind <> 'message'
    AND NOT (NEW.kind = 'lock' AND NEW.body::json ->> 'change'
      IN ('acquired', 'handed_over', 'released', 'expired', 'wanted'))
  THEN
    wrong := 'what somebody did is journaled under their own name';
  ELSIF NEW.kind = 'decision'
    AND NEW.body::json ->> 'state' IN ('approved', 'overridden', 'rejected')
    AND NOT (NEW.actor_kind = 'operator' AND NEW.actor_name = session_user
      AND {schema}.handoff_supervises())
  THEN
    wrong := 'only a supervisor settles a decision';
  END IF;
"""

_DRAFTS = """
  IF EXISTS (SELECT FROM {schema}.operators o WHERE o.name = NEW.operator)
    OR (TG_OP = 'UPDATE' AND EXISTS (
      SELECT FROM {schema}.operators o WHERE o.name = OLD.operator))
  THEN
    wrong := 'a draft is its author''s';
  END IF;
"""

_PRESENCE = """
  wrong := 'who is there says it themselves';
"""

_TICKETS = """
  wrong := 'where a ticket came from never changes';
"""

_RULES = {
    "handoff_guard_locks": _LOCKS,
    "handoff_guard_new_reply": _OUTBOX_NEW,
    "handoff_guard_reply": _OUTBOX_CHANGED.replace("{fixed}", _differ(_FIXED)),
    "handoff_guard_action": _ACTIONS,
    "handoff_guard_execution": _DECISION_OF_ACTION,
    "handoff_guard_action_event": _ACTIONS,
    "handoff_guard_journal": _JOURNAL,
    "handoff_guard_drafts": _DRAFTS,
    "handoff_guard_presence": _PRESENCE,
    "handoff_guard_tickets": _TICKETS,
}

_DRAFT_DELETED = """
CREATE FUNCTION {schema}.handoff_guard_draft_deleted() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT {schema}.handoff_administers() AND EXISTS (
    SELECT FROM {schema}.operators o WHERE o.name = OLD.operator
  ) THEN
    RAISE EXCEPTION 'a draft is its author''s'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN OLD;
END $$
"""

TICKET_FUNCTIONS = (
    *(_TRIGGER.format(name=name, rule=rule) for name, rule in _RULES.items()),
    _DRAFT_DELETED,
)

_OTHER_HOLDER = (
    "NEW.ticket_id <> OLD.ticket_id OR NEW.token < OLD.token"
    " OR (OLD.holder_name IS NOT NULL AND (OLD.holder_kind, OLD.holder_name)"
    " IS DISTINCT FROM (NEW.holder_kind, NEW.holder_name))"
)
_REPLY_CHANGED = (
    f"{_differ(_FIXED)} OR (OLD.state <> NEW.state AND (NEW.state = 'discarded'"
    " OR OLD.state IN ('withheld', 'discarded', 'delivered')))"
)
_TOLD = "NEW.kind = 'decision' OR NEW.actor_kind = 'operator'"
_ORIGIN = _differ(("id", "channel", "claim", "origin", "created_at"))
_NOT_MINE = "NEW.operator <> session_user"
_WAS_NOT_MINE = f"{_NOT_MINE} OR OLD.operator <> session_user"

TICKET_TRIGGERS = (
    ("locks", "UPDATE", "handoff_guard_locks", _OTHER_HOLDER),
    ("outbox", "INSERT", "handoff_guard_new_reply", None),
    ("outbox", "UPDATE", "handoff_guard_reply", _REPLY_CHANGED),
    ("actions", "INSERT", "handoff_guard_action", None),
    ("actions", "INSERT", "handoff_guard_execution", "NEW.decision_id IS NOT NULL"),
    ("action_events", "INSERT", "handoff_guard_action_event", None),
    ("journal", "INSERT", "handoff_guard_journal", _TOLD),
    ("drafts", "INSERT", "handoff_guard_drafts", _NOT_MINE),
    ("drafts", "UPDATE", "handoff_guard_drafts", _WAS_NOT_MINE),
    ("drafts", "DELETE", "handoff_guard_draft_deleted", "OLD.operator <> session_user"),
    ("presence", "INSERT", "handoff_guard_presence", _NOT_MINE),
    ("presence", "UPDATE", "handoff_guard_presence", _WAS_NOT_MINE),
    ("tickets", "UPDATE", "handoff_guard_tickets", _ORIGIN),
)
"""Table, event, function and, where not every row is asked about, which are."""
