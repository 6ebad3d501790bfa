"""COMET, XCOMET, MetricX and BERTScore through the metrics of mbrs (Deguchi et al., 2024), an optional extra.

mbrs encodes each text once where the metric allows it (COMET, BERTScore), and has the models' input formats right. Its
decoders are not used: the decision rules here serve every utility alike.
"""

import contextlib
import dataclasses
import importlib
import importlib.metadata
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dcmbr_fairseq.errors import UserError, suggestion
from dcmbr_fairseq.plugins import shown_arguments
from dcmbr_fairseq.utilities.base import Utility

INSTALL = "pip install 'dcmbr_fairseq[neural]'"


class MbrsUtility(Utility):
    """A metric of mbrs; negated where less is better.

    Args:
        arguments: fields of the metric's ``Config`` in mbrs, such as ``model``, ``batch_size``, ``fp16``, ``cpu``.

    Raises:
        UserError: mbrs is missing, the metric refuses an argument, or its model cannot be loaded.
    """

    metric_name: ClassVar[str]
    needs = "pip install 'dcmbr_fairseq[neural]', a model, the source"

    @classmethod
    def require_ready(cls) -> None:
        """The package mbrs."""
        try:
            importlib.metadata.version("mbrs")
        except importlib.metadata.PackageNotFoundError as error:
            raise UserError(f"{cls.label} needs the package mbrs: {INSTALL}") from error

    def __init__(self, **arguments: Any) -> None:
        self.require_ready()
        kind = _metric_class(self.metric_name, self.label)
        try:
            config = kind.Config(**arguments)
        except TypeError as error:
            known = [field.name for field in dataclasses.fields(kind.Config)]
            unknown = [name for name in arguments if name not in known]
            hint = f": {suggestion(unknown[0], known)}" if unknown else ""
            given = shown_arguments(arguments)
            raise UserError(f"--utility-args {given} do not fit {self.label}: {error}{hint}") from error
        self._arguments = arguments
        self._model = getattr(config, "model", None) or getattr(config, "model_type", None)
        try:
            with _local_checkpoints(kind):
                self._metric = kind(config)
        except Exception as error:  # comet, bert_score and transformers raise anything, a plain Exception included
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise UserError(
                f"{self.label} cannot be loaded with --utility-args {shown_arguments(arguments)} ({reason}): "
                f"{self._remedy(error)}"
            ) from error
        self._sign = 1.0 if kind.HIGHER_IS_BETTER else -1.0

    def _remedy(self, error: Exception) -> str:
        """What can be done about a model that was not loaded."""
        return (
            f"unless {self._model} is on this machine it must be downloaded: check its name and the network, or give a "
            "local one (docs/utilities.md)"
        )

    def pairwise(
        self, hypotheses: Sequence[str], references: Sequence[str], source: str | None = None
    ) -> np.ndarray:
        """See :meth:`~dcmbr_fairseq.utilities.base.Utility.pairwise`; on the metric's own scale.

        Raises:
            UserError: the metric needs the source and got none, or its model gave a score that is not a number.
        """
        import torch

        if self.needs_source and source is None:
            raise UserError(f"{self.label} needs the source text of every sentence: give it with the pools")
        with torch.inference_mode():
            scores = self._metric.pairwise_scores(list(hypotheses), list(references), source)
        matrix = self._sign * scores.double().cpu().numpy().reshape(len(hypotheses), len(references))
        if not np.isfinite(matrix).all():
            raise UserError(f"{self.label} gave scores that are not numbers: use full precision, or another model")
        return matrix

    def signature(self) -> str:
        """Metric, model, arguments and version of mbrs."""
        rest = [f"{name}:{value}" for name, value in sorted(self._arguments.items()) if name not in ("model", "cpu")]
        sign = "" if self._sign > 0 else "-"
        return "|".join(
            [f"{sign}{self.label}", f"model:{self._model}", *rest, f"version:mbrs-{importlib.metadata.version('mbrs')}"]
        )


class CometUtility(MbrsUtility):
    """COMET: regression of human ratings from embeddings of source, hypothesis and reference (Rei et al., 2020)."""

    metric_name = "comet"
    label = "COMET"
    in_per_cent = True
    least_arguments = '{"model": "NAME or FILE"}'
    needs_source = True


class XcometUtility(MbrsUtility):
    """XCOMET: COMET that also tags errors; all three texts are encoded jointly (Guerreiro et al., 2024)."""

    metric_name = "xcomet"
    label = "XCOMET"
    in_per_cent = True
    least_arguments = '{"model": "NAME or FILE"}'
    needs_source = True


class MetricXUtility(MbrsUtility):
    """Negative MetricX: an mT5 that predicts the MQM error score of a hypothesis (Juraska et al., 2023, 2024)."""

    metric_name = "metricx"
    label = "MetricX"
    least_arguments = '{"model": "NAME"}'
    needs_source = True

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        if "metricx-23" in str(self._model) and "-qe-" not in str(self._model):
            self.needs_source = False  # type: ignore[misc]  # the versions of 2023 read the reference alone


class BertScoreUtility(MbrsUtility):
    """BERTScore: greedy matching of the contextual embeddings of both texts' tokens (Zhang et al., 2020)."""

    metric_name = "bertscore"
    label = "BERTScore"
    in_per_cent = True
    needs = "pip install 'dcmbr_fairseq[neural]', a model"
    least_arguments = '{"model_type": "NAME or FOLDER"}'

    def _remedy(self, error: Exception) -> str:
        """See :class:`MbrsUtility`; bert-score knows the best layer of some models only."""
        if isinstance(error, KeyError) and self._arguments.get("num_layers") is None:
            return f"the best layer of {self._model} is not known: add num_layers, such as 9 of 12"
        return super()._remedy(error)


@contextlib.contextmanager
def _local_checkpoints(kind: Any) -> Iterator[None]:
    """Let a metric's ``model`` be a file: mbrs hands every name to COMET's ``download_model``, which knows no files."""
    module = sys.modules[kind.__module__]
    download = getattr(module, "download_model", None)
    if download is None:
        yield
        return
    module.download_model = lambda name: name if Path(name).is_file() else download(name)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.download_model = download  # type: ignore[attr-defined]


def _metric_class(name: str, label: str) -> Any:
    try:
        metrics = importlib.import_module("mbrs.metrics")
    except ImportError as error:
        raise UserError(f"{label}: the package mbrs cannot be imported ({error}): {INSTALL}") from error
    return metrics.get_metric(name)
