"""The surface my-surface."""
