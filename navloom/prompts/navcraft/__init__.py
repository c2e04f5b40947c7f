"""Prompt templates of NavCraft's agents, and the profiles that tasks are made for."""
