"""Tools of the chat robot: find places by name, describe surroundings, walk, turn and ask."""
