"""fairseq criterions of the plugin: training with generalised entropy regularisation (GER, Meister et al. 2020).

entropy.py holds the mathematics as pure tensor functions: log-probabilities (..., V) come in, divergences and entropies
in nats (...) go out. generalized_entropy.py is the criterion around it: it takes a batch apart, adds up and logs.
Importing this package registers the criterion, since fairseq does not look here by itself. It may import no other room
of the package; tasks and measurements take their entropy from here.
"""

import fairseq  # noqa: F401  (first: the tasks are registered as soon as fairseq is there, and need the modules below)

from dcmbr_fairseq.criterions import generalized_entropy  # noqa: F401
