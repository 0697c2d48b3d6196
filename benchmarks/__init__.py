"""Side-by-side measurements; nothing in the package depends on them."""
