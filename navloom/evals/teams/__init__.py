"""Teams: what further robots are worth."""
