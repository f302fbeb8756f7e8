"""What runs the command lines of a device, on every platform: its files, and its programs on a real shell's PATH."""
