"""The Agent Client Protocol, version 1: JSON-RPC over stdio."""
