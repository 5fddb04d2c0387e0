"""Tests of the scripted model server, and the client that they share."""
