"""Compares Holdfast with other programs, side by side in one run.

    python -m bench.compare --gitea BINARY
    python -m bench.compare --libsignal FOLDER

`BINARY` is a Gitea, and `FOLDER` one in which npm installed `@signalapp/libsignal-client`. Neither is part of the
project. Both hosts get the same content through the same API, on SQLite and on the same disk; both libraries read
the same generated file. They take turns, and what counts is the ratio of the medians. Requests are sent by `wrk`
if it is installed.
"""
