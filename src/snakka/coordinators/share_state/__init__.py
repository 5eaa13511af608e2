"""What was delivered of each share partition, kept in `__share_group_state` (KIP-932)."""
