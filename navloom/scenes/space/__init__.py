"""Where a body can be, and how it moves."""
