"""Public helpers for backend authors.

processes   child programs: own group, deadline, capped output, always reaped (`run`, `start`, `stop`, `find`)
pids        processes by id: `alive`, `group_alive`, `descendants`, `program`, `started_at`
background  work beside the calls, on asyncio and trio (`start`)
patience    other people's blocking code under a deadline (`in_time`)
images      kind and size of a PNG or JPEG from its bytes (`inspect`)
scaling     pictures made smaller, and parts of them (`shrunk`, `cropped`)
movies      kind, size and length of a video file, and whether it is whole (`inspect`)
video       a video of pictures, for backends that can only take pictures (`Recorder`)
moments     cursors of a log whose lines have nothing but a time (`numbered`, `parts`)
waiting     for a file descriptor, however many are open (`readable`)
written     what people write in one line: chords, launch arguments with names (`chord`, `named`)
finding     files of this host by name (`find`, `matcher`)
fetching    downloads from public addresses only (`fetch`)
unpacking   archives somebody else made (`check`, `unpack`)
"""
