"""For all tests: what a program that is started in the background of a script has inherited, is put right."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets background programs ignore Ctrl-C, and so do their children; tests send it to theirs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
