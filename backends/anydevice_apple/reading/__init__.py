"""Apple's outputs, read into facts: what the programs print and what automation servers answer. Nothing here acts."""
