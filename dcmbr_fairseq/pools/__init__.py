"""The pools of a sentence: types, rows, files, writers. Neither torch nor fairseq."""
