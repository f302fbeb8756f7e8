"""The daemon that owns this host's devices, and everything that speaks to it over its socket.

    protocol.py    the wire: lines of JSON, the hello                    shared by all sides
    record.py      what the daemon says of itself on disk; sockets       shared by all sides
    start.py       finding a daemon, or starting one                     clients
    pump.py        `anydevice mcp`: lines between stdio and the daemon   clients
    conversation.py  what a pump knows of them, to outlive its daemon    clients
    daemon.py      the process and its lifetime                          the daemon
    place.py       its lock, record and socket: that there is only one   the daemon
    succession.py  a newer version takes over, in the same process       the daemon
    connection.py  one connection: hello, then calls or a facade         the daemon
    resuming.py    connections that come back, by their token            the daemon
    calls.py       the `call` conversation                               the daemon
    operations.py  what a client may ask of the daemon itself            the daemon

Nothing is imported here: the clients' side is the standard library only, and quick.
"""
