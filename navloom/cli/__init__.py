"""The command line. Floor 6: the door."""
