"""A person as the client: `harness record --interactive`."""
