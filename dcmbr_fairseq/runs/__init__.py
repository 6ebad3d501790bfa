"""A decode of a whole test set by one process or many, which goes on where it was cut off (``dcmbr generate``).

`ranks` says which process of how many this is, `shards` which sentences it decodes, `decode` decodes them into records
that are safe after each batch, `launch` starts several processes on one machine. In come fairseq-generate's flags, out
go files of records, one a process, for `dcmbr merge`. It may import measure (for what fairseq loads) and pools; only
commands may import it.
"""
