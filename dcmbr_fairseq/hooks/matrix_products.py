"""Matrix products in which a row is the same bits among any others, also on Intel's processors with AVX-512.

There MKL's usual kernels add a row's terms in another order where the other rows are more or fewer, whatever multiple
they are kept to. In its strict mode ("Conditional Numerical Reproducibility") they do not with AVX2; with AVX-512 they
still do for long sources. MKL reads the variable at its first product, so that it must be set before.
"""

import os
from pathlib import Path

VARIABLE, STRICT = "MKL_CBWR", "AVX2,STRICT"
_PROCESSOR = Path("/proc/cpuinfo")


def keep_rows_apart() -> None:
    """Ask MKL for its strict mode where it is needed; a user's own choice stands."""
    if VARIABLE not in os.environ and _PROCESSOR.exists() and needs_strict_mode(_PROCESSOR.read_text()):
        os.environ[VARIABLE] = STRICT


def needs_strict_mode(processor: str) -> bool:
    """Whether a processor, as /proc/cpuinfo describes it, is one of Intel's with AVX-512."""
    return "GenuineIntel" in processor and "avx512f" in processor.split()
