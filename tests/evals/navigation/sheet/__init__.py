"""A sheet of a hundred failures for manual labelling, and agreement of readers and rules."""
