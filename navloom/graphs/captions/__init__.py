"""The agent that writes captions for every viewpoint of a scene, and its baseline."""
