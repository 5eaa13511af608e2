"""Where the rooms meet: what a running node is made of, for app.py to put together."""
