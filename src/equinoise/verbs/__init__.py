"""The two calls that make a mechanism, optimize and synthesize; and plan, which needs no data."""
