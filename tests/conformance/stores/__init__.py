"""Lease stores for the tests of their catalogue: sound ones of every kind, and one mutant a case."""
