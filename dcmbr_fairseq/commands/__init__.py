"""The subcommands of ``dcmbr``, one module each, with ``add_arguments(parser)`` and ``run(args)``."""
