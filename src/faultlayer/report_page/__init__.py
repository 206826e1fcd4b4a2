"""The report of a case as one HTML file that needs nothing beside itself."""
