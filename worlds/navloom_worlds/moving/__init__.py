"""Movement of a body in any simulator: its surroundings, distances, paths and drives."""
