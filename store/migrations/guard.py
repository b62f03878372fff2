"""PostgreSQL's guard: what no login may do, not even with plain SQL.

Grants alone can't say it: the same table takes an agent's proposal and a supervisor's
verdict. So triggers ask, within the very transaction that writes, who is connected
and what `operators` says of them now; a supervisor who was demoted a moment ago
settles nothing. `session_user` is what the login proved, and `SET ROLE` doesn't
change it. Tables are named with their schema, because a temporary table of the same
name would be found first; and functions and operators are looked for in the catalog
alone, because a login sets its own search path.

Who holds a ticket and what is said on it is guarded beside, in `guard_tickets`.

Members of the tables' owner are not asked: they could drop the triggers.
"""

from store.migrations.guard_tickets import (
    TICKET_FUNCTIONS,
    TICKET_TRIGGERS,
    WORKS_HERE,
)

_SUPERVISES = """
CREATE FUNCTION {schema}.handoff_supervises() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM {schema}.operators o
    WHERE o.name = session_user AND o.role = 'supervisor' AND NOT o.disabled
  );
END $$
"""

_ADMINISTERS = """
CREATE FUNCTION {schema}.handoff_administers() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN pg_has_role(session_user, (
    SELECT c.relowner FROM pg_catalog.pg_class c
    WHERE c.oid = '{schema}.operators'::regclass
  ), 'MEMBER');
END $$
"""

_DISABLED = """
CREATE FUNCTION {schema}.handoff_disabled() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM {schema}.operators o WHERE o.name = session_user AND o.disabled
  )
$$
"""
"""A login that was disabled may read nothing, and is still told that it was."""

_OPERATORS = """
CREATE FUNCTION {schema}.handoff_guard_operators() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT {schema}.handoff_administers() AND NOT {schema}.handoff_supervises() THEN
    RAISE EXCEPTION 'only a supervisor may change people'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN coalesce(NEW, OLD);
END $$
"""

_CANNED = """
CREATE FUNCTION {schema}.handoff_guard_canned() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT {schema}.handoff_administers() AND NOT {schema}.handoff_supervises() THEN
    RAISE EXCEPTION 'only a supervisor may change the replies of the team'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NOT {schema}.handoff_administers() AND NEW.operator <> session_user THEN
    RAISE EXCEPTION 'a reply of the team is kept under the name of who changed it'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN coalesce(NEW, OLD);
END $$
"""

_HOUSE_ACTS = """
CREATE FUNCTION {schema}.handoff_guard_house_acts() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF {schema}.handoff_administers() THEN
    RETURN NEW;
  END IF;
  IF NEW.operator <> session_user THEN
    RAISE EXCEPTION 'an act is kept under the name of who does it'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.act <> 'refused' AND NOT {schema}.handoff_supervises() THEN
    RAISE EXCEPTION 'only a supervisor may do this'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$
"""

_PROPOSED = """
CREATE FUNCTION {schema}.handoff_guard_proposal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF {schema}.handoff_administers() THEN
    RETURN NEW;
  END IF;
  IF NEW.state <> 'pending' OR NEW.first IS NOT NULL
    OR NEW.decided_by IS NOT NULL OR NEW.final_hash IS NOT NULL
  THEN
    RAISE EXCEPTION 'a proposal is stored without a verdict'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF NEW.proposed_by <> session_user AND EXISTS (
    SELECT FROM {schema}.operators o WHERE o.name = NEW.proposed_by
  ) THEN
    RAISE EXCEPTION 'a proposal is kept under the name of who makes it'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF {schema}.handoff_works_here() AND NOT EXISTS (
    SELECT FROM {schema}.locks l
    WHERE l.ticket_id = NEW.ticket_id AND l.holder_name = NEW.proposed_by
  ) THEN
    RAISE EXCEPTION 'who proposes holds the ticket'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$
"""

_SETTLED = """
CREATE FUNCTION {schema}.handoff_guard_verdict() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settles boolean := NEW.state IN ('approved', 'overridden', 'rejected');
  verdict boolean := (settles AND NEW.state <> OLD.state)
    OR (NEW.first, NEW.decided_by, NEW.decided_at, NEW.final_input, NEW.final_hash,
        NEW.four_eyes, NEW.object)
      IS DISTINCT FROM
       (OLD.first, OLD.decided_by, OLD.decided_at, OLD.final_input, OLD.final_hash,
        OLD.four_eyes, OLD.object);
  wrong text := NULL;
BEGIN
  IF {schema}.handoff_administers() THEN
    RETURN NEW;
  END IF;
  IF (NEW.id, NEW.ticket_id, NEW.proposed_at, NEW.proposed_by, NEW.document)
    IS DISTINCT FROM
     (OLD.id, OLD.ticket_id, OLD.proposed_at, OLD.proposed_by, OLD.document)
  THEN
    wrong := 'a proposal never changes';
  ELSIF NOT verdict THEN
    IF NOT (NEW.state = OLD.state
      OR (OLD.state = 'pending' AND NEW.state IN ('withdrawn', 'expired'))
      OR (OLD.state IN ('approved', 'overridden')
          AND NEW.state IN ('executed', 'expired')))
    THEN
      wrong := 'a decision does not go from ' || OLD.state || ' to ' || NEW.state;
    END IF;
  ELSIF NOT {schema}.handoff_supervises() THEN
    wrong := 'only a supervisor settles a decision';
  ELSIF NOT (
    (OLD.state = 'pending' AND (settles OR NEW.state = 'pending'))
    OR (OLD.state IN ('approved', 'overridden') AND NEW.state = 'rejected'))
  THEN
    wrong := 'a settled verdict stands';
  ELSIF settles AND NEW.decided_by IS DISTINCT FROM session_user THEN
    wrong := 'a verdict is kept under the name of who gives it';
  ELSIF NOT settles
    AND (NEW.first IS DISTINCT FROM session_user OR NEW.decided_by IS NOT NULL)
  THEN
    wrong := 'a first approval is kept under the name of who gives it';
  ELSIF settles AND NEW.first IS DISTINCT FROM OLD.first THEN
    wrong := 'a first approval stands';
  ELSIF OLD.first IS NOT NULL AND NOT settles THEN
    wrong := 'a first approval stands';
  ELSIF OLD.four_eyes AND NOT NEW.four_eyes THEN
    wrong := 'two people stay two';
  ELSIF NEW.state <> 'rejected' AND NEW.proposed_by = session_user THEN
    wrong := 'nobody approves their own proposal';
  ELSIF NEW.state IN ('approved', 'overridden') AND NEW.four_eyes
    AND (OLD.first IS NULL OR OLD.first = session_user
      OR NEW.final_hash IS DISTINCT FROM OLD.final_hash
      OR NEW.final_input IS DISTINCT FROM OLD.final_input)
  THEN
    wrong := 'two different people approve the same';
  END IF;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION '%', wrong USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$
"""

_TRIGGERS = (
    ("operators", "INSERT OR UPDATE OR DELETE", "handoff_guard_operators", None),
    ("canned", "INSERT OR UPDATE", "handoff_guard_canned", None),
    ("house_acts", "INSERT", "handoff_guard_house_acts", None),
    ("decisions", "INSERT", "handoff_guard_proposal", None),
    ("decisions", "UPDATE", "handoff_guard_verdict", None),
    *TICKET_TRIGGERS,
)


def guard(schema: str) -> tuple[str, ...]:
    """The statements that put the guard into a schema (a quoted name)."""
    asked = (_SUPERVISES, _ADMINISTERS, _DISABLED, WORKS_HERE)
    people = (_OPERATORS, _CANNED, _HOUSE_ACTS, _PROPOSED, _SETTLED)
    made = (*asked, *people, *TICKET_FUNCTIONS)
    functions = (text.format(schema=schema) for text in made)
    triggers = (
        f"CREATE TRIGGER {name}_{event[:6].lower()} BEFORE {event} ON"
        f" {schema}.{table} FOR EACH ROW"
        f"{f' WHEN ({when})' if when else ''} EXECUTE FUNCTION {schema}.{name}()"
        for table, event, name, when in _TRIGGERS
    )
    return (*functions, *triggers)
