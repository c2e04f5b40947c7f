"""Ways to mend: the cheapest changes of a home that let a body through, proven by driving."""
