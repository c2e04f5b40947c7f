"""Commands of the world, which ``navloom scenes`` finds by entry points."""
