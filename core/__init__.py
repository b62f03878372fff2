"""The rules of Handoff: words and rules on top, flows below, adapters outside.

A file here at the top is pure and synchronous. `flows/` awaits and does I/O only
through `ports`. `adapters/` touches one outside technology each.
"""
