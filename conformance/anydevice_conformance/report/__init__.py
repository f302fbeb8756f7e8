"""The report as files: `conformance.json`, `junit.xml`, `index.html`, a badge a class, pictures under `evidence/`."""

from __future__ import annotations

import shutil
from pathlib import Path

from anydevice.kit.images import inspect
from anydevice_schemas.report import ConformanceReport

from .badge import badges
from .junit import junit
from .page import page

PICTURE_MOST = 4 * 1024 * 1024
PICTURES_MOST = 200
EVIDENCE = "evidence"


def write(report: ConformanceReport, folder: Path, evidence: Path | None = None) -> ConformanceReport:
    """Writes the report into a folder, which is made if need be; what an earlier report left there is replaced.

    Args:
        report: What was found.
        folder: Where to.
        evidence: Where the pictures are that its cases name. Only what really is a picture is taken over.

    Returns:
        The report with the pictures that are there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("badge-*.json", f"{EVIDENCE}/*.png", f"{EVIDENCE}/*.jpg"):
        for old in folder.glob(pattern):
            old.unlink()
    report = _with_pictures(report, folder, evidence)
    files = {
        "conformance.json": report.model_dump_json(by_alias=True, indent=1) + "\n",
        "junit.xml": junit(report),
        "index.html": page(report, folder),
        **badges(report),
    }
    for name, text in files.items():
        part = folder / f"{name}.part"
        part.write_text(text, "utf-8")
        part.replace(folder / name)
    return report


def _with_pictures(report: ConformanceReport, folder: Path, evidence: Path | None) -> ConformanceReport:
    taken = 0
    rows = []
    for row in report.cases:
        kept = []
        for name in row.evidence:
            source = evidence / Path(name).name if evidence is not None else None
            if source is None or taken >= PICTURES_MOST or not _is_picture(source):
                continue
            (folder / EVIDENCE).mkdir(exist_ok=True)
            shutil.copyfile(source, folder / EVIDENCE / source.name)
            kept.append(f"{EVIDENCE}/{source.name}")
            taken += 1
        rows.append(row.model_copy(update={"evidence": kept}) if row.evidence else row)
    return report.model_copy(update={"cases": rows})


def _is_picture(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > PICTURE_MOST:
        return False
    try:
        kind = inspect(path.read_bytes()).mime
    except ValueError:
        return False
    return {"image/png": ".png", "image/jpeg": ".jpg"}[kind] == path.suffix
