"""The client program for SQLAlchemy and Django, as JSON lines."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import alchemy  # noqa: E402
import djangos  # noqa: E402
import lib  # noqa: E402

alchemy.checks()
djangos.checks()
lib.emit("end", lib.seen)
