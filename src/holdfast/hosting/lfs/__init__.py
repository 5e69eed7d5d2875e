"""Large files: the pointers repositories hold, and the stores that hold what they point to."""
