"""Evaluation of finished translations: corpus metrics, single segments, significance tests, reading translations.

In: the texts of some systems, references, and sources where a metric asks for them; files of any layout are read here.
Out: scores with signatures, intervals, p-values. A utility decides between hypotheses, a metric judges what was
decided; any utility can be a metric, as the mean over segments.
May import utilities and nothing else: no model is run here, and fairseq is unknown.
"""
