# mypy: ignore-errors
"""The practice app as a GTK 3 program: `practice_app.py --spec FILE [--screen ID] [--witness URL] [ARGUMENT|LINK...]`.

What it shows, does and reports is data (`--spec`, the specification as JSON); what that data means is told where it is
written. Nothing here knows a screen by name. A second start reaches the running instance: with a screen, a witness or
arguments it begins a fresh run there, with links (`practice:...`) alone it delivers them.
"""

import argparse
import json
import resource
import sys
from pathlib import Path

import gi

gi.require_version("Gio", "2.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gio, GLib, Gtk  # noqa: E402
from practice_reports import Reports  # noqa: E402
from practice_window import PracticeWindow  # noqa: E402

SCHEME = "practice:"


class PracticeApp(Gtk.Application):
    """The application: one instance, one window, one run at a time."""

    def __init__(self, specification):
        super().__init__(application_id=specification["app"], flags=Gio.ApplicationFlags.HANDLES_COMMAND_LINE)
        self._specification = specification
        self._window = None
        self._reports = None

    def do_command_line(self, command_line):
        """Begins a run, or delivers links to the one there is."""
        options, rest = arguments_of(command_line.get_arguments()[1:])
        links = [word for word in rest if word.startswith(SCHEME)]
        others = [word for word in rest if word not in links]
        if self._window is None or options.screen or options.witness or others:
            self._begin(options.screen, options.witness, others)
        for link in links:
            self._window.linked(link)
        self._window.present()
        return 0

    def do_shutdown(self):
        """Posts what is left to say."""
        if self._reports is not None:
            self._reports.close()
        Gtk.Application.do_shutdown(self)

    def _begin(self, screen, witness, arguments):
        if self._window is not None:
            self._window.destroy()
            self._reports.close()
        self._reports = Reports(witness)
        self._window = PracticeWindow(self, self._specification, self._reports)
        self._window.begin(screen, arguments)


def arguments_of(words):
    """The options, and what else was given."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--spec", "--screen", "--witness"):
        parser.add_argument(name)
    return parser.parse_known_args(words)


def main():
    """Runs the app until its window is closed; returns its exit status."""
    options, _ = arguments_of(sys.argv[1:])
    if options.spec is None:
        sys.stderr.write("practice_app.py: --spec FILE is needed\n")
        return 2
    specification = json.loads(Path(options.spec).read_text("utf-8"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it crashes on demand
    GLib.set_prgname(specification["app"])
    GLib.set_application_name("Practice")
    return PracticeApp(specification).run(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
