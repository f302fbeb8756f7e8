"""The report as one page a person can read: no other file, no network. Everything in it is escaped."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable
from html import escape as html_escape
from importlib.resources import files
from pathlib import Path

from anydevice.text import visible
from anydevice_schemas.report import CaseResult, ClassResult, ConformanceReport, Step, Verdict

from ..case import CORE
from ..verdict import PARTLY, bundle_says

INLINED_MOST = 12 * 1024 * 1024
"""Bytes of pictures that are put into the page; further ones are linked."""

WORDS: dict[Verdict, str] = {
    "failed": "failed",
    "engine_error": "error of the suite",
    "blocked": "blocked",
    "not_run": "not run",
    "experimental": "experimental",
    "passed": "passed",
    "honestly_absent": "honestly absent",
    "not_yet_judged": "not yet judged",
}
"""Verdicts as people read them, those that need somebody's attention first."""

COLOURS: dict[Verdict, str] = {
    "failed": "#c0312b", "engine_error": "#6a3fb5", "blocked": "#d08a12", "not_run": "#e3b65b",
    "experimental": "#9a7fd1", "passed": "#2c9a62", "honestly_absent": "#b4bcc8", "not_yet_judged": "#d3d8df",
}  # fmt: skip
LEVELS = {
    "none": "no level",
    "partial": "partial run",
    "core": "core",
    "extended": "extended",
}


def page(report: ConformanceReport, folder: Path) -> str:
    """The page; pictures are read from the folder the report is written into."""
    pictures = _Pictures(folder)
    title = f"Conformance of {report.subject.backend}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_file('page.css')}</style></head><body><main>",
        _top(report),
        '<section class="cards">' + "".join(_card(report, verdict) for verdict in report.classes) + "</section>",
    ]
    if report.cases:
        parts += [_filter(report), *(_class(report, verdict, pictures) for verdict in report.classes)]
        parts.append('<p class="empty" id="empty" hidden>No case fits.</p>')
    parts += [_footer(report), "</main>"]
    if report.cases:
        parts.append(f"<script>{_file('page.js')}</script>")
    parts.append("</body></html>\n")
    return "".join(parts)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _top(report: ConformanceReport) -> str:
    subject = report.subject
    kind = "Lease store" if subject.kind == "store" else "Backend"
    facts = [
        f"{subject.distribution} {subject.version}",
        report.started.replace("T", " ").replace("Z", " UTC"),
        f"{report.seconds:g} s",
    ]
    says = "self-reported" if report.self_reported else "verified"
    notes = list(report.remarks)
    if report.partial:
        notes.append("Parts of the catalogue were left out. A partial run has no level.")
    if report.narrowed_to:
        notes.append(f"Only the class of the device {report.narrowed_to} was judged.")
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<header class="top"><div>'
        f'<p class="kind">{kind} · anydevice contract {escape(report.contract)}</p>'
        f"<h1>{escape(subject.backend)}</h1>"
        f'<p class="facts">{escape(" · ".join(facts))}</p></div>'
        f'<div class="seal level-{report.level}"><b>{LEVELS[report.level]}</b><span>{says}</span></div></header>'
        f'<p class="why">{_sentence(report.why)}</p>'
        + (f'<ul class="notes">{items}</ul>' if items else "")
        + _output(report)
    )


def _output(report: ConformanceReport) -> str:
    if not report.output.strip():
        return ""
    opened = " open" if report.ended != "finished" else ""
    return (
        f'<details class="more"{opened}><summary class="soft">What the run printed (its end)</summary>'
        f'<pre class="mono">{escape(report.output)}</pre></details>'
    )


def _card(report: ConformanceReport, verdict: ClassResult) -> str:
    rows = [row for row in report.cases if row.device_class == verdict.device_class]
    totals = Counter(row.verdict for row in rows)
    seen = [(word, totals[word]) for word in WORDS if totals[word]]
    bar = "".join(f'<i style="flex:{count};background:{COLOURS[word]}"></i>' for word, count in seen)
    legend = "".join(
        f'<span><i style="background:{COLOURS[word]}"></i><b>{count}</b> {WORDS[word]}</span>' for word, count in seen
    )
    chips = "".join(
        _chip(name, state, rows)
        for name, state in sorted(verdict.bundles.items(), key=lambda bundle: (bundle[0] != CORE, bundle[0]))
    )
    facts = ", ".join(f"{name} {value}" for name, value in verdict.facts.items() if name != "name")
    device = ""
    if verdict.devices:
        device = f"Driven: <code>{escape(verdict.devices[0])}</code>" + (f" ({escape(facts)})" if facts else "")
        if len(verdict.devices) > 1:
            device += f"<br>Untouched beside it: <code>{escape(verdict.devices[1])}</code>"
    return (
        f'<article class="card"><header><h2>{escape(verdict.device_class)}</h2>'
        f'<span class="pill level-{verdict.level}">{LEVELS[verdict.level]}</span></header>'
        + (f'<p class="says">{_sentence(verdict.why)}</p>' if len(report.classes) > 1 else "")
        + f'<div class="bar">{bar}</div><div class="legend">{legend}</div>'
        f'<div class="bundles">{chips}</div>' + (f'<p class="device">{device}</p>' if device else "") + "</article>"
    )


def _chip(name: str, state: str, rows: Iterable[CaseResult]) -> str:
    """A bundle in a word; one of which nothing failed is not shown as if something had."""
    said = bundle_says(name, rows) if state == "failed" else state
    kind = "partly" if said.startswith(PARTLY) else state
    return f'<span class="chip {kind}">{escape(name)}: {escape(said)}</span>'


def _sentence(text: str) -> str:
    """A reason as a sentence; one that begins with the name of a class stays as it is."""
    named = text.partition(" ")[0].endswith(":")
    return escape(text if named else text[:1].upper() + text[1:])


def _filter(report: ConformanceReport) -> str:
    totals = Counter(row.verdict for row in report.cases)
    verdicts = "".join(_toggle("verdict", word, f"{WORDS[word]} {totals[word]}") for word in WORDS if totals[word])
    classes = ""
    if len(report.classes) > 1:
        names = [verdict.device_class for verdict in report.classes]
        classes = '<div class="group">' + "".join(_toggle("class", name, name) for name in names) + "</div>"
    bundles = sorted({row.bundle for row in report.cases})
    options = "".join(f"<option>{escape(name)}</option>" for name in bundles)
    return (
        f'<div class="filter"><div class="group">{verdicts}</div>{classes}'
        f'<select id="bundle" aria-label="Bundle"><option value="">every bundle</option>{options}</select>'
        '<input type="search" id="word" placeholder="Find a case" aria-label="Find a case">'
        '<span class="count" id="count"></span></div>'
    )


def _toggle(kind: str, value: str, text: str) -> str:
    return (
        f'<button type="button" class="toggle" data-kind="{kind}" data-value="{escape(value)}" aria-pressed="false">'
        f"{escape(text)}</button>"
    )


def _class(report: ConformanceReport, verdict: ClassResult, pictures: _Pictures) -> str:
    order = list(WORDS)
    rows = [row for row in report.cases if row.device_class == verdict.device_class]
    rows.sort(key=lambda row: (order.index(row.verdict), row.id))
    head = f'<h2 class="class-head">{escape(verdict.device_class)}</h2>'
    cases = "".join(_case(row, pictures) for row in rows)
    return f'<section class="class-part">{head}<div class="cases">{cases}</div></section>'


def _case(row: CaseResult, pictures: _Pictures) -> str:
    text = f"{row.id} {row.must} {row.reason}".lower()
    reason = f'<div class="reason">{escape(row.reason)}</div>' if row.reason else ""
    inner = _steps(row.steps) + "".join(pictures.shown(row.evidence))
    return (
        f'<details class="case v-{row.verdict}" data-verdict="{row.verdict}" data-class="{escape(row.device_class)}" '
        f'data-bundle="{escape(row.bundle)}" data-text="{escape(text)}"><summary>'
        f'<span><span class="pill">{WORDS[row.verdict]}</span></span>'
        f'<span><div class="name">{escape(row.id)}</div><div class="must">{escape(row.must)}</div>{reason}</span>'
        f'<span class="side">{escape(row.bundle)}<br>{_seconds(row.seconds)}</span></summary>'
        f'<div class="inner">{inner or "<p class=soft>No calls were made.</p>"}</div></details>'
    )


def _seconds(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _steps(steps: Iterable[Step]) -> str:
    rows = "".join(
        f'<tr><td class="word"><code>{escape(step.call)}</code></td>'
        f"<td><code>{escape(json.dumps(step.arguments, ensure_ascii=False)) if step.arguments else ''}</code>"
        f'{escape(step.note)}</td><td class="word">{escape(step.device or "")}</td>'
        f'<td class="word {"ok" if step.outcome == "ok" else "no"}">{escape(step.outcome)}</td>'
        f'<td class="num">{step.ms:.1f}</td></tr>'
        for step in steps
    )
    if not rows:
        return ""
    head = "<tr><th>call</th><th>arguments</th><th>device</th><th>outcome</th><th>ms</th></tr>"
    return f'<table class="steps">{head}{rows}</table>'


def escape(text: str) -> str:
    """Text for the page: what could be markup is text, what would be invisible or turn the line around is shown."""
    return "\n".join(html_escape(line if line.isprintable() else visible(line)) for line in text.split("\n"))


class _Pictures:
    """Pictures as the page holds them: inlined as long as there is room."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left = INLINED_MOST

    def shown(self, names: Iterable[str]) -> list[str]:
        images = [self._shown(name) for name in names]
        return ['<div class="shots">', *images, "</div>"] if images else []

    def _shown(self, name: str) -> str:
        data = (self._folder / name).read_bytes()
        source = escape(name)
        if len(data) <= self._left:
            self._left -= len(data)
            kind = "jpeg" if name.endswith(".jpg") else "png"
            source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
        return f'<img loading="lazy" alt="The screen after the case" src="{source}">'


def _footer(report: ConformanceReport) -> str:
    subject = report.subject
    facts = {
        "Catalogue": f"{report.catalogue_size} cases, {report.catalogue_hash}",
        "Suite": report.suite_version,
        "Sealed": "yes" if report.sealed else "no",
        "Contract it is written for": subject.contract,
        "Manifest": subject.manifest_hash,
        "Distribution": subject.distribution_hash,
        "Operations of its own, not judged": ", ".join(subject.extra_operations),
        "Let into the run": ", ".join(report.passed_through),
        "Declared, not judged": ", ".join(report.not_judged),
        **{name.capitalize(): value for name, value in report.host.items()},
    }
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items() if value)
    limit = (
        "Cases that change something are judged by the practice app itself, with a second device present. The code "
        "that is judged ran in the process that ran the cases, so it could forge results: until somebody else has run "
        "the suite, a report is self-reported. "
        if subject.kind == "backend"
        else "The code that is judged ran in the process that ran the cases: the report is self-reported. "
    )
    limit += "There is no skip: what is not declared was asked for and had to be refused."
    return f"<footer><p>{limit}</p><dl>{rows}</dl></footer>"
