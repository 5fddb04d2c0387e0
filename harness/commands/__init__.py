"""The command line's commands: their options, and what each calls."""
