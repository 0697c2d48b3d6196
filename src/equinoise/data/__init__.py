"""Files and dataframes to people per cell."""
