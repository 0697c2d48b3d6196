"""What can be certified, drawn from and saved."""
