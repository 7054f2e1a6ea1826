"""Every speed claim, measured against the peer a user would pick instead, in one run."""
