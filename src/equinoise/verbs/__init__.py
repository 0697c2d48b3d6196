"""The two calls that make a mechanism: optimize and synthesize."""
