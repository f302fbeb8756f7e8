"""The catalogue of lease stores: the same runner, the same report, another thing that is judged.

A store is named `module:factory`. The factory makes an `anydevice.leases.LeaseStore`; one that takes an argument is
given a folder of its own, and called with the same folder again it opens the same store again. What a store offers
besides the five verbs it says in an attribute `offers` of the factory: `durable` (opened again, it knows its leases),
`threads`, `processes` (safe for several of them). What it does not offer is not asked.
"""

from .case import StoreCase, store_cases
from .judging import judge_store, run_store

__all__ = ["StoreCase", "judge_store", "run_store", "store_cases"]
