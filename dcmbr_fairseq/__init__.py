"""DC-MBR (distributional cooling for minimum Bayes risk decoding) as a fairseq plugin.

Importing the package, directly or through ``--user-dir dcmbr_fairseq``, repairs fairseq and registers the tasks and
criterions; it prints nothing. Where fairseq is not imported yet this waits until it is, so that commands that need no
model (``dcmbr select``) start at once.
"""

from dcmbr_fairseq.registration import when_imported

__version__ = "0.1.0"


def register() -> None:
    """Repair fairseq and register the tasks and criterions of this package; calling it again changes nothing."""
    from dcmbr_fairseq import compat, errors

    compat.repair_fairseq()
    errors.print_user_errors_plainly()
    from dcmbr_fairseq import criterions, tasks  # noqa: F401  (importing them registers them)


#: Modules of ``decoding`` that know nothing of fairseq; `dcmbr select` needs no more than these.
_LIGHT = frozenset(f"{__name__}.decoding.{name}" for name in ("lemma", "plain_pools", "pools", "randomness", "records"))


def _needs_fairseq(module: str) -> bool:
    return module.startswith(f"{__name__}.decoding.") and module not in _LIGHT


when_imported("fairseq", register, needed_by=_needs_fairseq)
