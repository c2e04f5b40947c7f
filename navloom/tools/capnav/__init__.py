"""What an agent of CapNav may call, and what holds its questions and answers to the scene."""
