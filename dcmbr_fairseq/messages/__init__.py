"""What a user reads where something is wrong: which exceptions are mistakes, the sentence for each, others' noise.

``mistakes`` is asked once, by ``dcmbr`` and by the hook in fairseq's commands; ``sayings`` holds what fairseq and its
libraries say; ``noise`` drops lines that tell a user nothing. In comes an exception, out goes a sentence, or nothing
where it is a fault of a program. Imports ``files`` and ``errors`` only.
"""
