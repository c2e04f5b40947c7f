"""The command line. Floor 7: the door."""
