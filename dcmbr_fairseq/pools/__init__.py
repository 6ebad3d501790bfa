"""The pools of a sentence, as types and on disk.

In comes what the sampler drew (``draws``), as texts; out go the pools of a sentence (``sentence``), of which a decision
rule sees :class:`~dcmbr_fairseq.rules.Candidates`, and records of them: rows of JSON (``rows``), written in one go
(``record_writer``) or over several runs (``resumable_writer``), read again from there or from plain text
(``plain_text``), with what they were made from (``identity``). Everything above may import this room; it imports
neither torch nor fairseq.
"""
