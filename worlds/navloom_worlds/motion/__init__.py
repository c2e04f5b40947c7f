"""Motion of bodies in a scene's geometry: fields, collision, path planning, traversability."""
