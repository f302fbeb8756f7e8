"""For all tests: what a program that is started in the background of a script has inherited, is put right.

Test files run side by side in several processes (see the Makefile). So no test may look at what is not its own: ports,
displays and homes are made for each, and of the table of processes it judges what it started.
"""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# How fast examples come is the machine's affair.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets background programs ignore Ctrl-C, and so do their children; tests send it to theirs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
