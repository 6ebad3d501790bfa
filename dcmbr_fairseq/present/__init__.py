"""What needs no model: tidy tables, and what is made of them and of recorded pools.

In the room: tables written and read (tidy, tables, results), the paper's tables (layouts and appendix, with the numbers
of paper beside) and figures (drawings with series, written by figures), what both say they are (provenance),
correlation, and the report page (report).
In come rows of measurements, or records of pools; out go tables, figures and one HTML file.
It may not import fairseq or torch, nor any room that runs a model.
"""
