"""The rule-based navigator: what it reads in the prompt, and how it follows an instruction."""
