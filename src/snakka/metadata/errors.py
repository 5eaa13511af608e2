"""What replaying a metadata log may find wrong."""


class ReplayError(Exception):
    """A record contradicts the ones before it: the log is damaged, or was never one."""
