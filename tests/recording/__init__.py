"""Recording: the process runner, isolation, whole recordings, the drivers."""
