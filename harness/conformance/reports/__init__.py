"""A check's results as one stream, and every form that is made of it."""
