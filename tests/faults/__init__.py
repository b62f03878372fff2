"""Whatever breaks, nothing is lost and nothing happens twice (rules 1, 3, 5, 6, 8, 11).

    kill           a worker is killed, put to sleep, or loses its store, at every point
    wakeups        many messages at one ticket at once, many workers
    power          power cuts under a SQLite store
    failover       a PostgreSQL primary dies and its standby takes over
    retail_kills   random kills of the retail tasks

Each is a command, `python -m tests.faults.kill`, and a short test beside it.
"""
