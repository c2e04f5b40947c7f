"""The graders. Floor 3: uses tools, prompts and models."""
