"""What a place is and where a body fits. Floor 0: knows no other room of the house."""
