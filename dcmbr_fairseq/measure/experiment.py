"""What every analysis is given: models, the sentences on which they are measured, and what tables say of both."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.measure.models import Corpus, Model, Workspace
from dcmbr_fairseq.pools.identity import text_fingerprint


@dataclass(frozen=True)
class Experiment:
    """Models on a test set.

    Attributes:
        workspace: the sentences, and the task that reads them.
        models: the models.
        test_set: its name, column ``task`` of tidy tables.
        references: a file with one reference for each sentence of the split; None takes the split's own target side.
    """

    workspace: Workspace
    models: list[Model]
    test_set: str
    references: PathLike | None = None

    @cached_property
    def corpus(self) -> Corpus:
        """Sources and references as text; see :meth:`~dcmbr_fairseq.measure.models.Workspace.corpus`."""
        return self.workspace.corpus(self.models[0], self.references)

    def fingerprints(self) -> dict[str, Any]:
        """What rows of a table depend on, by what files hold and not by their names: models, sentences, references."""
        models = {model.name: self.workspace.identity(model).fingerprints() for model in self.models}
        return {"models": models, "references": text_fingerprint(self.corpus.references.values())}

    def columns(self, model: Model) -> dict[str, Any]:
        """The columns with which each row of a tidy table begins: the test set and the model."""
        subset, sentences = self.workspace.cfg.dataset.gen_subset, len(self.workspace.ids)
        return {"task": self.test_set, "subset": subset, "sentences": sentences, **model.columns()}
