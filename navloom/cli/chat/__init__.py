"""Command ``navloom chat`` and its displays in a terminal or through a pipe."""
