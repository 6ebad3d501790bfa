"""Around training: the mean of a run's checkpoints, and training configs as flags of fairseq-train.

In come paths of checkpoints or of configs; out go a checkpoint that fairseq loads, or words of a command line.
Nothing here decodes, and nothing of this package is needed but files and errors.
"""
