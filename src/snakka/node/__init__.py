"""Where the rooms meet: what a running node is made of, for app/ to put together."""
