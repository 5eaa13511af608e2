"""Transactions: who writes under which transactional id, and how each transaction ends."""
