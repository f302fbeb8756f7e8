"""The proof under fire: real processes, real kills, and a witness that outlives every daemon."""
