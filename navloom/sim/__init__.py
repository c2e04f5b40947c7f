"""Moving and seeing. Floor 1: uses scenes."""
