"""Options of a navigator, parsing of its replies, and the limits on an oracle's answers."""
