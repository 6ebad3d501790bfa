"""An English-German travel phrasebook with real grammar, made from templates: the demo's parallel corpus.

``german`` and ``english`` inflect, ``phrase`` fills templates, ``lexicon`` and ``topics`` hold the words and templates,
``sampling`` draws and splits. Many phrases have several correct translations, so that a model trained on them spreads
its probability over paraphrases, as models of real translation do: where minimum Bayes risk decoding matters.
"""

from phrasebook.sampling import Phrasebook


def build_phrasebook(pairs: int = 20000, valid: int = 500, test: int = 500, seed: int = 1) -> Phrasebook:
    """The phrasebook as a corpus of ``pairs`` distinct (English, German) pairs, held-out ones included.

    Raises:
        UserError: the numbers do not go together; see :func:`phrasebook.sampling.build`.
    """
    from phrasebook.sampling import build
    from phrasebook.topics import TOPICS

    return build(TOPICS, pairs, valid, test, seed)
