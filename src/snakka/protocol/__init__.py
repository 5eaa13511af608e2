"""Bytes to messages and back. Imports nothing else of ours."""
