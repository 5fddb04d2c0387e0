"""The cassette file."""
