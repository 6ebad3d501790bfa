"""MKL's strict mode is asked for where rows would depend on others; what it gives is tested in tests/decoders."""

import os
from pathlib import Path

import pytest

from dcmbr_fairseq.hooks import matrix_products
from dcmbr_fairseq.hooks.matrix_products import STRICT, VARIABLE, keep_rows_apart

INTEL, AMD = ("vendor_id : {}\nflags : fpu avx2 {}\n".format(name, "{}") for name in ("GenuineIntel", "AuthenticAMD"))


@pytest.mark.parametrize("processor, asked", [(INTEL.format("avx512f"), True), (INTEL.format("avx512f_not"), False),
                                              (AMD.format("avx512f"), False), ("", False)])  # fmt: skip
def test_it_is_asked_for_on_intel_s_avx512_alone(
    processor: str, asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpuinfo").write_text(processor)
    monkeypatch.setattr(matrix_products, "_PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.delenv(VARIABLE, raising=False)
    keep_rows_apart()
    assert os.environ.get(VARIABLE) == (STRICT if asked else None)
    monkeypatch.setenv(VARIABLE, "COMPATIBLE")
    keep_rows_apart()
    assert os.environ[VARIABLE] == "COMPATIBLE"


def test_a_machine_without_the_file_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_products, "_PROCESSOR", tmp_path / "none")
    monkeypatch.delenv(VARIABLE, raising=False)
    keep_rows_apart()
    assert VARIABLE not in os.environ
