"""`harness review`: what waits as `.new` is shown, and accepted, rejected or left."""
