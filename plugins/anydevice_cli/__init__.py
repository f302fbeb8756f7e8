"""The command line: the catalogue's commands for people and scripts, over the daemon's socket.

Nothing is imported here, so that `anydevice mcp` starts in tens of milliseconds.
"""
