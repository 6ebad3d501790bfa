"""Corpus tools: from the publishers' parallel text to the text that models are trained on.

In come aligned files, plain or .gz, a sentence a line, and optionally alignment scores; out go the pairs that no named
rule drops (filters, duplicates), or each line normalised, with counts of what was done. Files of any size pass as a
stream of chunks over several processes, in order. Pure text work: nothing here may import torch, fairseq, or another
room of the package but files.py and errors.py.
"""
