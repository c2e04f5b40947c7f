"""What the agents of NavCraft are told, and for whom their tasks are made."""
