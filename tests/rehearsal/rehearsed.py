"""What the rehearsals share: the device. Importing this makes it, for good, in the process that does so."""

import sys

from fairseq_commands import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts" / "bench"))
import rehearsal  # noqa: F401
