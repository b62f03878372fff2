"""Where everything is kept: SQLite or PostgreSQL behind `core.ports.Store`.

`transaction` is the way in. Below it lies one file for each aggregate (tickets,
journal, locks, runs, decisions, ledger, outbox, drafts, people, changes, and `queue`
for the overviews), none of which knows another; below them `fence`, the engines,
`codec`, `schema` and the migrations.
"""
