"""A file descriptor is waited for, however many are open."""

from __future__ import annotations

import os
import resource
import time

from anydevice.kit.waiting import readable


def test_what_can_be_read_is_seen_at_once_and_what_cannot_after_its_time() -> None:
    reader, writer = os.pipe()
    try:
        began = time.monotonic()
        assert not readable(reader, 0) and not readable(reader, 0.05)
        assert time.monotonic() - began >= 0.05
        os.write(writer, b"x")
        assert readable(reader, 0) and readable(reader, None)
        os.read(reader, 1)
        os.close(writer)
        writer = -1
        assert readable(reader, 5), "the other end is gone"
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def test_a_descriptor_beyond_the_first_thousand_is_one_like_the_others() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))
    reader, writer = os.pipe()
    far = os.dup2(reader, 2000)
    try:
        os.write(writer, b"x")
        assert readable(far, 0)
    finally:
        for fd in (reader, writer, far):
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
