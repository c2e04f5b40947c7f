"""A hundred failures to be labelled by reading, and how far the rules agree with the readers."""
