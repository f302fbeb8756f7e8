# mypy: ignore-errors
"""Reports of the practice app to its witness: in order, one at a time, never in the way of the window."""

import contextlib
import json
import sys
import threading
import urllib.parse
from http import client

TIMEOUT = 5.0
"""Seconds one post may take."""


class Reports:
    """Posts what the app reports. A witness that is gone misses reports; the app does not care."""

    def __init__(self, witness):
        """`witness`: address to post to; None = nothing is posted."""
        self._address = urllib.parse.urlsplit(witness) if witness else None
        self._waiting = []
        self._seq = 0
        self._busy = False
        self._closed = False
        self._held = False
        self._changed = threading.Condition()
        if self._address is not None:
            threading.Thread(target=self._post_all, daemon=True).start()

    def add(self, screen, what, id="", value=None):
        """Puts a report in line. Nothing is posted before `release`: what happens in one go is one report."""
        if self._address is None:
            return
        with self._changed:
            last = self._waiting[-1] if self._waiting else None
            if what == "fill" and last is not None and (last["what"], last["id"]) == ("fill", id):
                last["value"] = value  # nobody has seen the one before
                return
            self._seq += 1
            entry = {"seq": self._seq, "screen": screen, "what": what, "id": id, "value": value}
            self._waiting.append(entry)
            self._held = True

    def release(self):
        """Lets go of what waits."""
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def flush(self, seconds=2.0):
        """Returns once everything is posted, or when the time is up: what follows blocks the app, or ends it."""
        with self._changed:
            self._held = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def close(self):
        """Posts what waits and ends."""
        if self._address is not None:
            self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _post_all(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or (self._waiting and not self._held))
                if not self._waiting or self._held:
                    return
                entry = self._waiting.pop(0)
                self._busy = True
            with contextlib.suppress(OSError):  # nobody reads what it writes
                sys.stdout.write(f"practice {entry['what']} {entry['id']}".rstrip() + "\n")
                sys.stdout.flush()
            with contextlib.suppress(OSError, client.HTTPException):  # whoever waits for the report says so
                self._post(entry)
            with self._changed:
                self._busy = False
                self._changed.notify_all()

    def _post(self, entry):
        to = self._address
        connection = client.HTTPConnection(to.hostname, to.port or 80, timeout=TIMEOUT)
        try:
            path = to.path + (f"?{to.query}" if to.query else "")
            connection.request("POST", path, json.dumps(entry).encode(), {"Content-Type": "application/json"})
            connection.getresponse().read()
        finally:
            connection.close()
