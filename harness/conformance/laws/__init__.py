"""The laws, one module for each family."""
