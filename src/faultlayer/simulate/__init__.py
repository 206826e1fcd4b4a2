"""Invented days: the logs of a serving stack, and what is true about them."""
