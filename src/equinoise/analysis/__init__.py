"""What a mechanism is held against: data, losses, other methods."""
