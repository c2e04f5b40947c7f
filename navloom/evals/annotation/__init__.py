"""How right the annotation of rooms is."""
