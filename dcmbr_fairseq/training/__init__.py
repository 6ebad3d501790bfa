"""Around training: the mean of a run's checkpoints, training configs as flags, and decisions as training text.

In come paths of checkpoints, of configs, or of records; out go a checkpoint that fairseq loads, words of a command
line, or parallel text. Nothing here decodes; it reads records through pools and asks the rules of corpus.
"""
