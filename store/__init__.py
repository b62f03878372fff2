"""Where everything is kept: SQLite or PostgreSQL behind `core.ports.Store`.

`transaction` is the way in, and `at_hand` what it has read and changed. Below lies
one file for each aggregate (tickets, journal, locks, runs, decisions, ledger, outbox,
drafts, people, and `queue` for the overviews), none of which knows another, and
`fence`, the one check of every holder's write. Below these are `engine` and its two
dialects (with `line` and `watch` for SQLite, `changes` for the feed, `faults` for what
goes wrong), `codec`, `schema` and `columns`. `revision` looks whether `migrate` and
the migrations are needed.
"""
