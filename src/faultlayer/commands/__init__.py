"""The subcommands, one module each: options in, answers out, nothing decided here."""
