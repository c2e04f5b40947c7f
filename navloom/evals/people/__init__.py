"""What only people know: forms, who rates what, what was answered, and how far people agree."""
