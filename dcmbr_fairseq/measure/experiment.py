"""What every analysis is given: models, the sentences on which they are measured, and what tables say of both."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dcmbr_fairseq.files.errors import PathLike
from dcmbr_fairseq.measure.models import Corpus, System, Workspace
from dcmbr_fairseq.pools.identity import text_fingerprint


@dataclass(frozen=True)
class Experiment:
    """Models on a test set.

    Attributes:
        workspace: the sentences, and the task that reads them.
        systems: the models.
        test_set: its name, column ``task`` of tidy tables.
        references: a file with one reference for each sentence of the split; None takes the split's own target side.
    """

    workspace: Workspace
    systems: list[System]
    test_set: str
    references: PathLike | None = None

    @cached_property
    def corpus(self) -> Corpus:
        """Sources and references as text; see :meth:`~dcmbr_fairseq.measure.models.Workspace.corpus`."""
        return self.workspace.corpus(self.systems[0], self.references)

    def fingerprints(self) -> dict[str, Any]:
        """What rows of a table depend on, by what files hold and not by their names: models, sentences, references."""
        models = {system.name: self.workspace.identity(system).fingerprints() for system in self.systems}
        return {"models": models, "references": text_fingerprint(self.corpus.references.values())}

    def columns(self, system: System) -> dict[str, Any]:
        """The columns with which each row of a tidy table begins: the test set and the model."""
        subset, sentences = self.workspace.cfg.dataset.gen_subset, len(self.workspace.ids)
        return {"task": self.test_set, "subset": subset, "sentences": sentences, **system.columns()}
