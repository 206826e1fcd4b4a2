"""The notations in which people already have their log lines, each compiled to a layout."""
