"""The group coordinator: members of groups, and the positions they have committed."""
