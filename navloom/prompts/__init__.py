"""What models are told: text files and one loader. Floor 0: knows no other room."""
