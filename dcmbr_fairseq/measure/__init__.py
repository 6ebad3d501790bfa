"""What runs a model to learn about it: entropy, ranks, top-N, diversity, and quality over grids (sweep, tuning).

In the room: how flags are read, models and data loaded and batches prepared (flags, models, preparation), pools kept
on disk (sampling), and one file for each analysis. In comes an Experiment (experiment): models, sentences, the test
set's name. Out go rows of tidy tables, each beginning with the experiment's columns, in a journal where they are dear.
It may not import commands or tasks, and only commands may import it.
"""
