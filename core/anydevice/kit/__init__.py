"""Public helpers for backend authors.

processes   child programs: own group, deadline, capped output, always reaped (`run`, `start`, `stop`, `find`)
pids        processes by id: `alive`, `group_alive`, `descendants`, `program`, `started_at`
background  work beside the calls, on asyncio and trio (`start`)
patience    other people's blocking code under a deadline (`in_time`)
images      kind and size of a PNG or JPEG from its bytes (`inspect`)
"""
