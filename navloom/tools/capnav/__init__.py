"""Tools of the CapNav agents, and checks of their questions and answers against the scene."""
