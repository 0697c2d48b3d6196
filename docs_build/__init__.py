"""What the documentation site needs besides the pages in docs/: MkDocs loads the hooks, `make docs` runs the check."""
