"""The subcommands of ``dcmbr``, one module each, with ``add_arguments(parser)`` and ``run(args)``; nothing else.

In comes a command line; out go a file, whole or not at all, or standard output, and messages on standard error.
What a command does is a documented function in another room. What several commands share stands in ``shared``, in
``model_options`` for those that load models, in ``grid_options`` for those that sweep: no command imports another,
but ``temperature`` its part ``tune``.
"""
