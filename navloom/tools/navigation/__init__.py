"""What a navigator may do next, how its words are read, and what an oracle may say."""
