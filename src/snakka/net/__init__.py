"""Sockets: listeners, the connections they accept, and connections to peers."""
