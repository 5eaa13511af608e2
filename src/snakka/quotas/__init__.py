"""What clients may use: which quota is whose, and how much of it is left. Pure."""
