"""What is changed around other packages: repairs of fairseq, what it evaluates as Python, what happens at imports.

``registration`` runs something once fairseq has been imported and answers to old names; ``compat`` repairs fairseq
under today's torch and numpy; ``stored_settings`` lets it read settings as ``literals`` where it would run them.
``registration`` and ``literals`` need no fairseq. Imports ``files`` and ``errors`` only.
"""
