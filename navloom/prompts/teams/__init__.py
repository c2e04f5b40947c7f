"""What those who plan for teams are told."""
