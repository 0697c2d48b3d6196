"""What people look at: figures, pages, the terminal, notebooks."""
