"""What the active controller decides: a command and what is known in, records and an answer out."""
