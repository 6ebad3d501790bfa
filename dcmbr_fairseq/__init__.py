"""DC-MBR (distributional cooling for minimum Bayes risk decoding) as a fairseq plugin.

Importing the package, directly or through ``--user-dir dcmbr_fairseq``, repairs fairseq and registers the tasks and
criterions; it prints nothing. Where fairseq is not imported yet this waits until it is, so that commands that need no
model (``dcmbr select``) start at once.
"""

from dcmbr_fairseq.hooks.registration import MOVED, answer_to_old_names, when_imported
from dcmbr_fairseq.messages.noise import drop_noise

__version__ = "0.2.0"


def register() -> None:
    """Repair fairseq and register the tasks and criterions of this package; calling it again changes nothing."""
    from dcmbr_fairseq import errors
    from dcmbr_fairseq.hooks import compat, matrix_products, stored_settings
    from dcmbr_fairseq.messages import mistakes

    matrix_products.keep_rows_apart()
    compat.repair_fairseq()
    stored_settings.evaluate_no_code()
    errors.print_user_errors_plainly(mistakes.sentence_of_uncaught)
    errors.take_errors_from_hydra()
    from dcmbr_fairseq import criterions, tasks  # noqa: F401  (importing them registers them)


#: The rooms, and single files of others, that fairseq is needed in; a module of them may be the first import.
_FAIRSEQ_ROOMS = ("criterions", "decoders", "decoding", "measure", "preflight", "sampling", "search", "tasks")

_FAIRSEQ_FILES = ("hooks.compat", "hooks.stored_settings", "runs.decode")


def _needs_fairseq(module: str) -> bool:
    package, _, place = module.partition(".")
    room, _, file = place.partition(".")
    return package == __name__ and place not in MOVED and (file and room in _FAIRSEQ_ROOMS or place in _FAIRSEQ_FILES)


drop_noise()
answer_to_old_names(MOVED)
when_imported("fairseq", register, needed_by=_needs_fairseq)
