"""What the learners of a stream share."""
