"""Simulated devices behind the real wire protocols, for tests, the suite and demonstrations."""
