"""Cassettes written from documents and reports: what no agent at hand can be made to send."""
