"""Numbers about distributions: distances, and what others would release."""
