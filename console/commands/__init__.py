"""The commands, by what they are about.

base     options that stand everywhere, exit codes, output
intake   ingest, import
desk     tickets, show, take, reply, note, whisper, withheld, release, outbox
decide   decisions, decide
records  runs, run, replay
people   operator
running  worker, doctor, migrate
demo     demo
"""
