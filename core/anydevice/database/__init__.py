"""The one SQLite file of a home: what must outlive the process that wrote it.

`Database` opens, writes and reads it. A file that cannot be trusted is refused with a copy kept beside it: it is
never made anew, and never half believed.
"""

from .checks import checksum
from .connection import Database
from .refusals import StoreBusy

__all__ = ["Database", "StoreBusy", "checksum"]
