"""Embodiments in a scene's geometry: fields, collision, planning, traversability."""
