"""Rule-based navigator: reads the prompt's text and follows the instruction."""
