"""The practice app as a GTK 3 program; run by the system's Python, never imported by ours."""
