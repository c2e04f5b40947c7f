"""What an agent may call, grounded in a scene graph. Floor 2: uses scenes and sim."""
