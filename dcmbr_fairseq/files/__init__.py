"""Files and streams: nothing is lost, and nothing is half there.

Text is read in ``reading`` (lines end at ``\\n`` alone) and written in ``writing`` (whole or not at all) to what
``places`` finds behind a path; ``json_lines`` are objects, one a line; ``temporary`` are the throw-away files,
``signals`` what ends a command, ``standard_streams`` the output of ``dcmbr``, ``errors`` the sentences for what the
system says of a file. In come paths, out go lines and files, or a ``UserError``. Imports nothing of this package but
``errors``.
"""
