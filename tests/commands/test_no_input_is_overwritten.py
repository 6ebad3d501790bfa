"""No command writes over what it reads, by whatever name its output goes."""

import json
import os
from pathlib import Path

import pytest

from dcmbr_fairseq import cli

#: Command lines; IN is read, OUT is where the output goes.
LINES = {
    "select": ["select", "IN", "--output", "OUT"],
    "select plain": ["select", "--hypotheses", "x", "--source", "IN", "--lines-per-source", "1", "--output", "OUT"],
    "evaluate": ["evaluate", "x", "--references", "IN", "--output", "OUT"],
    "evaluate hypotheses": ["evaluate", "x", "IN", "--references", "x", "--output", "OUT"],
    "significance": ["significance", "x", "IN", "--references", "x", "--output", "OUT"],
    "report": ["report", "IN", "--output", "OUT"],
    "report compare": ["report", "x", "--compare", "other=IN", "--output", "OUT"],
    "table": ["table", "1", "x", "IN", "--output", "OUT"],
    "correlation": ["correlation", "IN", "--output", "OUT"],
    "merge": ["merge", "IN", "--output", "OUT"],
    "distill-data": ["distill-data", "IN", "--out", "OUT", "x.de"],
    "corpus": ["corpus", "normalize", "IN", "OUT", "--lang", "de"],
}


@pytest.mark.parametrize("name", ["itself", "link", "second name"])
@pytest.mark.parametrize("line", list(LINES))
def test_no_input_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    content = json.dumps({"id": 0, "source": "a", "hypotheses": ["b", "c"], "translation": "b"}) + "\n"
    for file in ("in", "x"):
        Path(file).write_text(content)
    output = {"itself": "./in", "link": "link", "second name": "second"}[name]
    os.symlink("in", "link")
    os.link("in", "second")
    assert cli.main([{"IN": "in", "OUT": output, "other=IN": "other=in"}.get(word, word) for word in LINES[line]]) == 1
    assert f"the output {output} would overwrite the input in: give it another name" in capsys.readouterr().err
    assert Path("in").read_text() == content
