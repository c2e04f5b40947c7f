"""NavCraft: tasks by the batch, what they are worth, and whether a dataset of them is true."""
