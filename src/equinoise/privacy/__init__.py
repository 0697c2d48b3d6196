"""What is promised, and the checks of it."""
