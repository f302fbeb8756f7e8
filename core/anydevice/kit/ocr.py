"""Reading text in pictures: an engine in a process of its own, started on demand, kept warm, ended when idle.

    reader = Reader()
    reading = await reader.read(png, deadline=30)
    await reader.aclose()

Two engines: `rapidocr` (extra `ocr`; its models come with it, nothing is fetched) and, where it is installed, the
program `tesseract`. What was read once is not read again.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import os
import shutil
import struct
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import anyio.to_thread
import structlog

from anydevice_schemas.errors import CallTimeout, ToolMissing, UpstreamUnavailable

from . import processes

log = structlog.get_logger("anydevice.kit.ocr")

Engine = Literal["rapidocr", "tesseract"]
Box = tuple[float, float, float, float]
"""Left, top, width, height, in pixels of the picture."""

INSTALL = "pip install 'anydevice[ocr]'"
NEEDS = ("rapidocr", "onnxruntime")
IDLE = 300.0
"""Seconds without a picture after which the engine's process ends."""
KEPT = 32
"""Readings that are remembered."""
LINES_MOST = 2000
ANSWER_MOST = 16 << 20
"""Bytes of an answer of the engine."""
_WORD_LEVEL = "5"


@dataclass(slots=True, frozen=True)
class Word:
    """A word, or a run of characters that belong together. Untrusted text."""

    text: str
    box: Box


@dataclass(slots=True, frozen=True)
class Line:
    """A line of text in a picture. Untrusted text. `confidence` is from 0 to 1."""

    text: str
    box: Box
    confidence: float
    words: tuple[Word, ...] = ()


@dataclass(slots=True, frozen=True)
class Reading:
    """What was read in a picture, in reading order, and by which engine; `cut` lines were left out."""

    lines: tuple[Line, ...]
    engine: Engine
    cut: int = 0


def engines() -> list[Engine]:
    """The engines that are installed, the better one first. Blocking but small; imports none of them."""
    found: list[Engine] = []
    if all(importlib.util.find_spec(name) is not None for name in NEEDS):
        found.append("rapidocr")
    if shutil.which("tesseract") is not None:
        found.append("tesseract")
    return found


class Reader:
    """Reads pictures, one at a time.

    Args:
        idle: Seconds without a picture after which the engine's process ends.
    """

    def __init__(self, *, idle: float = IDLE) -> None:
        self._idle = idle
        self._worker: processes.Child | None = None
        self._turn = anyio.Lock()
        self._known: OrderedDict[tuple[bytes, str], Reading] = OrderedDict()

    @property
    def pid(self) -> int | None:
        """Process id of the engine that is warm; None where none is."""
        return self._worker.pid if self._worker is not None and self._worker.code is None else None

    async def read(self, picture: bytes, *, engine: Engine | None = None, deadline: float) -> Reading:
        """The text in a picture.

        Args:
            picture: A PNG or JPEG file.
            engine: Which one to use; None for the best that is installed.
            deadline: Seconds it may take, waiting for its turn included.

        Raises:
            ToolMissing: The engine, or any, is not installed.
            CallTimeout: It took too long; the engine's process was ended.
            UpstreamUnavailable: The engine failed.
        """
        installed = await anyio.to_thread.run_sync(engines)
        chosen = engine or (installed[0] if installed else "rapidocr")
        if chosen not in installed:
            raise _missing(chosen)
        key = (hashlib.blake2b(picture, digest_size=16).digest(), chosen)
        known = self._known.get(key)
        if known is None:
            try:
                with anyio.fail_after(deadline):
                    async with self._turn:
                        rows = await (self._by_worker(picture) if chosen == "rapidocr" else _by_tesseract(picture))
            except TimeoutError:
                raise CallTimeout("The text was not read in time.", after=deadline, waiting_for=chosen) from None
            lines = in_reading_order(rows)
            known = Reading(tuple(lines[:LINES_MOST]), chosen, max(0, len(lines) - LINES_MOST))
        self._known[key] = known
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return known

    async def aclose(self) -> None:
        """Ends the engine's process, if there is one. May be called more than once."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await processes.stop(worker, grace=0.0)

    # --- inside ---------------------------------------------------------------------------------------

    async def _by_worker(self, picture: bytes) -> list[Line]:
        """As the worker reads it. One that ended meanwhile, because it was idle, is started anew."""
        warm = self.pid is not None
        try:
            answer = await self._ask(picture)
        except _Ended:
            if not warm:
                raise _failed("its process ended", self._said()) from None
            try:
                answer = await self._ask(picture)
            except _Ended:
                raise _failed("its process ended", self._said()) from None
        if answer.get("missing"):
            raise _missing("rapidocr", str(answer["error"]))
        if "error" in answer:
            raise _failed(str(answer["error"]))
        return [
            Line(
                str(row["text"]),
                _box(row["box"]),
                float(row["confidence"]),
                tuple(Word(str(text), _box(box)) for text, box in row["words"]),
            )
            for row in answer["lines"]
        ]

    def _said(self) -> str:
        return self._worker.tail[-500:] if self._worker is not None else ""

    async def _ask(self, picture: bytes) -> dict[str, Any]:
        if self.pid is None:
            await self.aclose()
            self._worker = await processes.start(
                [sys.executable, "-P", "-m", "anydevice.kit.ocr_worker", f"{self._idle:g}"],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        worker = self._worker
        assert worker is not None and worker.process.stdin is not None and worker.process.stdout is not None
        try:
            await worker.process.stdin.send(struct.pack(">I", len(picture)) + picture)
            stream, data = worker.process.stdout, bytearray()
            while len(data) < 4 or len(data) < 4 + struct.unpack(">I", data[:4])[0]:
                data += await stream.receive()
                if len(data) > ANSWER_MOST:
                    raise _failed("its answer is too long")
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            with anyio.move_on_after(1):
                await worker.wait()
            raise _Ended from None
        except BaseException:
            await self.aclose()  # half an answer must not be taken for the next one's
            raise
        try:
            answer: dict[str, Any] = json.loads(bytes(data[4:]))
        except ValueError:
            await self.aclose()
            raise _failed("its answer cannot be read") from None
        return answer


class _Ended(Exception):
    """The worker ended before it answered."""


def _environment() -> dict[str, str]:
    """The daemon's own, without what would make libraries start more threads than they are given."""
    return {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1"}


async def _by_tesseract(picture: bytes) -> list[Line]:
    argv = ["tesseract", "stdin", "stdout", "--psm", "11", "tsv"]
    result = await processes.run(argv, deadline=60.0, stdin=picture, cap=ANSWER_MOST)
    if result.code != 0:
        raise _failed(f"exit status {result.code}", result.complaint[-500:])
    rows: dict[tuple[str, ...], list[tuple[Word, float]]] = {}
    for row in csv.DictReader(io.StringIO(result.text), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] != _WORD_LEVEL or not (row["text"] or "").strip():
            continue
        key = (row["page_num"], row["block_num"], row["par_num"], row["line_num"])
        box = (float(row["left"]), float(row["top"]), float(row["width"]), float(row["height"]))
        rows.setdefault(key, []).append((Word(row["text"], box), float(row["conf"]) / 100))
    lines = []
    for found in rows.values():
        words = tuple(word for word, _ in found)
        confidence = round(sum(own for _, own in found) / len(found), 3)
        lines.append(
            Line(" ".join(word.text for word in words), around([word.box for word in words]), confidence, words)
        )
    return lines


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """Lines as a person reads them: rows from the top, each from the left."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda one: one.box[1] + one.box[3] / 2):
        middle = line.box[1] + line.box[3] / 2
        last = rows[-1][0].box if rows else None
        if last is not None and last[1] <= middle <= last[1] + last[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda one: one.box[0])]


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box that holds others; there must be one at least."""
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    right, bottom = max(box[0] + box[2] for box in boxes), max(box[1] + box[3] for box in boxes)
    return left, top, right - left, bottom - top


def _box(values: Sequence[float]) -> Box:
    left, top, width, height = (float(value) for value in values)
    return left, top, width, height


def _missing(engine: str, reason: str = "") -> ToolMissing:
    install = INSTALL if engine == "rapidocr" else "install tesseract-ocr from the system's packages"
    return ToolMissing(
        "What reads text in pictures is not installed.",
        tools=[engine],
        install=install,
        hint=f"Run: {INSTALL}",
        reason=reason or "not found",
    )


def _failed(reason: str, said: str = "") -> UpstreamUnavailable:
    log.warning("ocr_failed", reason=reason, said=said)
    return UpstreamUnavailable(
        "The engine that reads text in pictures failed.",
        upstream="ocr engine",
        enable_hint="Try again; should it fail again, install it anew: " + INSTALL,
        reason=reason,
    )
