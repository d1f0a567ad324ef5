# What the old tests know as unittest2 has long been Python's own.
from unittest import *  # noqa: F401,F403
