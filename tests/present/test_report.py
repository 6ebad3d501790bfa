"""The report: its data are the pools', and the page works in a browser: no network, by keyboard, when narrow."""

import base64
import csv
import io
import json
import re
import shutil
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest

from dcmbr_fairseq.cli import main
from dcmbr_fairseq.errors import UserError
from dcmbr_fairseq.pools.draws import TextPool
from dcmbr_fairseq.pools.identity import Identity, Part
from dcmbr_fairseq.pools.rows import Record, format_row, make_row
from dcmbr_fairseq.pools.sentence import Pools
from dcmbr_fairseq.present.report.collect import View, describe, read_rows, views
from dcmbr_fairseq.present.report.page import detail, fill, quantise, render_page
from dcmbr_fairseq.rules.expected_utility import decide_exactly
from dcmbr_fairseq.utilities import build_utility

ODD = '</script><b>&amp;"\u2028 \ud800 {{ title }}'
SENTENCES = [
    ("ein Hund läuft", ["a dog runs", "the dog runs", "a dog runs", "a dog is running", "dogs run"], None),
    (ODD, [ODD, "x", ""], [ODD, "y y", "", ODD]),
    ("我喜欢猫", ["我喜欢猫", "我爱猫", "我喜欢猫"], None),
    *((f"Satz {i}", [f"sentence {i}", f"phrase {i}", f"sentence {i} {i}"], None) for i in range(3, 60)),
]
BEAM = ["the dog runs", ODD, "我爱猫", *(f"sentence {i}" if i % 2 else f"sentence {i} {i}" for i in range(3, 60))]
REFERENCES = ["a dog is running", "x", "我喜欢猫", *(f"sentence {i}" for i in range(3, 60))]
IDENTITY = {
    "checkpoint": {"files": ["m.pt"], "fingerprint": "aa"},
    "sources": {"data": "bin", "subset": "test", "sentences": 60, "fingerprint": "bb"},
    "languages": {"source": "de", "target": "en", "fingerprint": "cc"},
}


def pool_of(texts):
    values = [-float(i + 1) for i in range(len(texts))]
    return TextPool.from_draws(texts, values, values)


def write_inputs(folder: Path):
    utility = build_utility("chrf", {})
    settings = {"decoding": "dcmbr", "temp_hyp": 0.5, "utility": "chrf", "utility_args": {}}
    with open(folder / "pools.jsonl", "w") as out:
        for i, (source, hypotheses, references) in enumerate(SENTENCES):
            pools = Pools.of([pool_of(texts) for texts in (hypotheses, references) if texts], source)
            candidates = pools.candidates()
            decision = decide_exactly(candidates, utility.pairwise(candidates.hypotheses, candidates.references))
            provenance = {"settings": settings, "signature": utility.signature(), "identity": IDENTITY, "seed": 3}
            out.write(format_row(make_row(i, pools, int(decision.order[0]), decision, **provenance)) + "\n")
    for name, lines in (("beam.txt", BEAM), ("references.txt", REFERENCES)):
        text = "".join(line.replace("\ud800", "") + "\n" for line in lines)  # UTF-8 has no lone surrogates
        (folder / name).write_text(text, "utf-8", newline="\n")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report of :data:`SENTENCES` with a second system and references."""
    folder = tmp_path_factory.mktemp("report")
    write_inputs(folder)
    arguments = [
        "--compare",
        f"beam={folder}/beam.txt",
        "--references",
        f"{folder}/references.txt",
        "--title",
        "<Test>",
    ]
    assert main(["report", str(folder / "pools.jsonl"), "-o", str(folder / "report.html"), *arguments]) == 0
    return folder / "report.html"


def unpack(html: str, name: str) -> bytes:
    return zlib.decompress(base64.b64decode(re.search(rf'id="{name}">([^<]*)</script>', html)[1]))


def test_index_holds_choices_and_their_utilities(page):
    data = json.loads(unpack(page.read_text("utf-8"), "index"))
    assert data["systems"] == ["DC-MBR", "beam"] and len(data["sentences"]) == len(SENTENCES)
    first = data["sentences"][0]
    assert first["texts"] == ["a dog runs", "the dog runs"] and (first["draws"], first["distinct"]) == (5, 4)
    matrix = build_utility("chrf", {}).pairwise(["a dog runs", "the dog runs"], SENTENCES[0][1])
    np.testing.assert_allclose(first["expected"], matrix.mean(axis=1), atol=6e-4)  # five draws count the same
    quality = build_utility("chrf", {}).pairwise(first["texts"], [REFERENCES[0]])[:, 0]
    np.testing.assert_allclose(first["quality"], quality, atol=6e-4)
    assert data["sentences"][1]["source"] == ODD


def test_blocks_hold_the_pools_and_every_utility(page):
    html = page.read_text("utf-8")
    found = []
    for number in range(3):
        data = unpack(html, f"block-{number}")
        (length,) = struct.unpack("<I", data[:4])
        start = 4 + length
        for entry in json.loads(data[4:start]):
            shape = entry["rows"], len(entry["columns"])
            cells = np.frombuffer(data[start : start + shape[0] * shape[1]], np.uint8).reshape(shape)
            start += cells.size
            found.append((entry, entry["low"] + cells / 255 * (entry["high"] - entry["low"])))
        assert start == len(data)
    assert len(found) == len(SENTENCES)
    utility = build_utility("chrf", {})
    for (entry, utilities), (_, hypotheses, references) in zip(found, SENTENCES, strict=True):
        pool, against = pool_of(hypotheses), pool_of(references or hypotheses)
        assert entry["hypotheses"] == pool.texts and entry["counts"] == pool.counts().tolist()
        assert entry.get("references") == (against.texts if references else None)
        expected = utility.pairwise(pool.texts, against.texts)
        assert entry["order"] == sorted(entry["order"], key=lambda i: -entry["expected"][i])
        shown = expected[np.ix_(entry["order"], entry["columns"])]
        assert shown.shape == expected.shape
        np.testing.assert_allclose(utilities, shown, atol=np.ptp(expected) / 510 + 1e-3)
        np.testing.assert_allclose(entry["expected"], expected @ against.weights(), atol=6e-4)
        np.testing.assert_allclose(entry["recorded"], entry["expected"], atol=6e-4)


def test_the_page_refers_to_nothing_outside(page):
    html = page.read_text("utf-8")
    assert not re.search(
        r"https?:|//[a-z]|src=|@import|url\(", re.sub(r'id="[\w-]+">[^<]*<', "", html).replace("// ", "")
    )
    assert "<title>&lt;Test&gt;</title>" in html and "default-src 'none'" in html


def test_quantisation_reaches_both_ends():
    values = np.array([[0.25, 0.5], [0.75, 1.25]])
    assert list(quantise(values, 0.25, 1.25)) == [0, 64, 128, 255]
    assert quantise(np.full((2, 2), 3.0), 3.0, 3.0) == bytes(4)


def test_large_heat_maps_keep_the_best_and_the_most_frequent(tmp_path):
    row = {"hypotheses": ["c", "a b", "a"], "references": ["x", "a b", "y", "a b"]}
    (tmp_path / "pools.jsonl").write_text(json.dumps(row) + "\n")
    (view,) = views(read_rows(tmp_path / "pools.jsonl"), [build_utility("chrf", {})], {})
    entry, cells = detail(view, 2)
    assert (entry["order"], entry["rows"], entry["columns"]) == ([1, 2, 0], 2, [1, 0])
    assert cells[0] == 255 and cells[1] == 0 and len(cells) == 4  # u("a b", "a b"), u("a b", "x")


def test_values_are_not_templates():
    assert fill("a {{ x }} b {{ y }}", {"x": "{{ y }}", "y": "1"}) == "a {{ y }} b 1"


def test_pools_without_a_decision_are_decided_by_the_reports_utility(tmp_path):
    (tmp_path / "pools.jsonl").write_text(
        json.dumps({"hypotheses": ["b", "a b c", "a b"], "references": ["a b"]}) + "\n"
    )
    (view,) = views(read_rows(tmp_path / "pools.jsonl"), [build_utility("chrf", {})], {})
    assert view.texts == ["a b"] and view.recorded is None and view.measured[0].text_expected[0] == 100


def test_the_closest_decision_is_by_what_decided_and_needs_two_texts(tmp_path):
    rows = [
        {"hypotheses": ["a", "a b"], "expected_utilities": [0.5, 0.25], "translation": "a"},
        {"hypotheses": ["same", "same"]},
        {"hypotheses": ["b", "a b c", "a b"], "references": ["a b"]},
        {"hypotheses": ["a", "a b"], "expected_utilities": [0.5, float("nan")]},
    ]
    (tmp_path / "pools.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:3]))
    found = list(views(read_rows(tmp_path / "pools.jsonl"), [build_utility("chrf", {})], {}))
    assert (found[0].margin, found[1].margin) == (0.25, None)
    values = np.sort(build_utility("chrf", {}).pairwise(["b", "a b c", "a b"], ["a b"])[:, 0])
    assert found[2].margin == pytest.approx(values[2] - values[1])
    record = Record(0, found[0].record.pools, rows[3])
    assert View(record, found[0].texts, found[0].measured).recorded is None  # what is not finite did not decide


def strict(data: bytes):
    """JSON as a browser reads it."""
    return json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_numbers_that_are_not_finite_do_not_reach_the_page(tmp_path):
    settings = {"decoding": "mbr", "unkpen": float("nan"), "nested": {"deep": float("inf")}}
    pools = Pools.of([pool_of(["a", "a b"])], "x")
    row = {"settings": settings, "expected_utilities": [float("nan"), 1.0], "seed": 3}
    setting = describe([Record(0, pools, row)], [build_utility("chrf", {})], [], None)
    found = views([Record(0, pools, row)], [build_utility("chrf", {})], {})
    html = "".join(render_page(found, setting, "t"))
    data = strict(unpack(html, "index"))
    assert data["facts"] == {"seed": "3", "decoding": "mbr", "unkpen": "NaN", "nested.deep": "Infinity"}
    block = unpack(html, "block-0")
    strict(block[4 : 4 + struct.unpack("<I", block[:4])[0]])

    class Broken(type(build_utility("chrf", {}))):
        def pairwise_batch(self, batch):
            return [np.full((len(c.hypotheses), len(c.references)), np.nan) for c in batch]

    with pytest.raises(UserError, match="Broken gives a number that is not finite for the pool of 'a'"):
        list(views([Record(0, pools, row)], [Broken()], {}))


def test_the_head_says_model_data_direction_and_seed_first():
    settings = {"decoding": "dcmbr", "num_hyp": 5, "nested": {"deep": True}}
    identity = {
        "checkpoint": {"files": ["a.pt"], "fingerprint": "aa"}, "text": {"fingerprint": None},
        "sources": {"data": "bin", "subset": "test", "sentences": 4, "fingerprint": "bb"},
        "languages": {"source": "en", "target": "de", "fingerprint": "cc"},
    }  # fmt: skip
    fields = {"settings": settings, "identity": identity}
    records = [Record(i, Pools.of([pool_of(["a"])], "x"), {**fields, "seed": 7 + i % 2}) for i in range(4)]
    facts = describe(records, [build_utility("chrf", {})], [], None).facts
    assert list(facts.items()) == [
        ("model", "a.pt (aa)"), ("data", "bin"), ("subset", "test"), ("direction", "en-de"), ("seed", "7, 8"),
        ("decoding", "dcmbr"), ("num_hyp", "5"), ("nested.deep", "true"),
    ]  # fmt: skip
    old = [Record(0, records[0].pools, {"settings": {"path": "m.pt", "subset": "valid", "decoding": "sample"}})]
    assert list(describe(old, [build_utility("chrf", {})], [], None).facts) == ["path", "subset", "decoding"]


UNTOLD = [{}, {"source": "en"}, {"source": None, "target": None}, {"source": "", "target": "de"}]


@pytest.mark.parametrize("languages", UNTOLD)
def test_a_head_without_a_direction_says_nothing_of_it(languages):
    identity = {"checkpoint": {"files": ["a.pt"], "fingerprint": "aa"}, "languages": {**languages, "fingerprint": "x"}}
    record = Record(0, Pools.of([pool_of(["a"])], "x"), {"identity": identity})
    assert describe([record], [build_utility("chrf", {})], ["beam"], None).facts == {"model": "a.pt (aa)"}


def test_several_utilities_stand_side_by_side(tmp_path):
    write_inputs(tmp_path)
    arguments = ["--utility", "chrf", "--utility", "bleu", "--utility-args", '{"beta": 1}', "--references"]
    arguments += [f"{tmp_path}/references.txt", "--compare", f"beam={tmp_path}/beam.txt"]
    assert main(["report", str(tmp_path / "pools.jsonl"), "-o", str(tmp_path / "page.html"), *arguments]) == 0
    html = (tmp_path / "page.html").read_text("utf-8")
    data = strict(unpack(html, "index"))
    assert data["utilities"] == ["chrF", "BLEU"] and data["signatures"][0].startswith("chrF")
    texts = ["a dog runs", "the dog runs"]
    for numbers, utility in (
        (data["sentences"][0], build_utility("chrf", {"beta": 1})),
        (data["sentences"][0]["further"][0], build_utility("bleu", {})),
    ):
        matrix = utility.pairwise(texts, [*dict.fromkeys(SENTENCES[0][1])])
        np.testing.assert_allclose(numbers["expected"], matrix @ pool_of(SENTENCES[0][1]).weights(), atol=6e-4)
        quality = utility.pairwise(texts, [REFERENCES[0]])[:, 0]
        np.testing.assert_allclose(numbers["quality"], quality, atol=6e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "beam.txt"], "must be NAME=FILE"),
        (["--compare", "beam={folder}/short.txt"], "lacks 59 of 60 sentences (first: 1)"),
        (["--references", "{folder}/short.txt"], "lacks 59 of 60 sentences (first: 1)"),
        (["--compare", "A={folder}/beam.txt", "--name", "A"], "distinct names, got A, A"),
        (["--utility-args", '{"beta": 1}'], "need --utility"),
        (["--heat-map-size", "0"], "--heat-map-size must be a whole number from 1 to 10000, got 0"),
        (["--utility", "nonsense"], "--utility nonsense is unknown"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_page(tmp_path, capsys, arguments, message):
    write_inputs(tmp_path)
    (tmp_path / "short.txt").write_text("only one line\n")
    given = [argument.replace("{folder}", str(tmp_path)) for argument in arguments]
    assert main(["report", str(tmp_path / "pools.jsonl"), "-o", str(tmp_path / "page.html"), *given]) == 1
    assert message in capsys.readouterr().err and not (tmp_path / "page.html").exists()


# --- in a browser --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium that keeps to itself."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (the extra [test])")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("needs chromium and chromedriver (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    switches = [
        "headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "window-size=1280,900", "disable-dev-shm-usage",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ]  # fmt: skip
    for switch in switches:
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield chromium
    chromium.quit()


def wait_for(browser, condition: str, *arguments):
    """Wait until a JavaScript expression holds; return its value."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        value = browser.execute_script(f"return {condition}", *arguments)
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"never true: {condition}")


@pytest.fixture
def opened(browser, page):
    """The page, ready, in a window of ordinary size."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")
    browser.get_log("performance")  # forget what the start page asked for
    browser.get(page.as_uri())
    wait_for(browser, "document.documentElement.dataset.ready")
    return browser


def press(browser, *keys):
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def heading(browser) -> str:
    return browser.execute_script("return document.querySelector('main h2').textContent")


def texts_in(browser, selector: str):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
    )


def test_opens_with_the_first_sentence_and_no_errors_or_requests(opened):
    assert heading(opened) == "Sentence 0" and opened.title == "<Test>"
    first = "model m.pt (aa) · data bin · subset test · direction de-en · seed 3 · decoding dcmbr · "
    assert texts_in(opened, "#facts")[0].startswith(first)
    assert texts_in(opened, "#source") == ["ein Hund läuft"]
    assert [entry for entry in opened.get_log("browser") if entry["level"] == "SEVERE"] == []
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert [url for url in urls if not url.startswith(("file:", "about:", "data:"))] == []


def test_pool_shows_multiplicities_choices_and_what_changed(opened):
    rows = opened.execute_script(
        "return [...document.querySelectorAll('[aria-label=\"Hypothesis pool\"] tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    assert rows[0][:3] == ["1", "2×", opened.execute_script("return shown(state.data.sentences[0].expected[0])")]
    assert rows[0][-1] == "a dog runs DC-MBR"
    beam = next(row for row in rows if "beam" in row[-1])
    assert beam[-1] == "athe dog runs beam"
    assert texts_in(opened, "[aria-label='Choices'] del") == ["a"] and texts_in(
        opened, "[aria-label='Choices'] ins"
    ) == ["the"]


def test_pool_sorts_by_each_column(opened):
    from selenium.webdriver.common.by import By

    table = "[aria-label='Hypothesis pool']"
    for title in ("log-prob", "to reference"):
        opened.find_element(By.XPATH, f"//th/button[text()='{title}']").click()
        column = texts_in(opened, f"{table} th").index(title)
        shown = [float(x) for x in texts_in(opened, f"{table} td:nth-child({column + 1})")]
        assert shown == sorted(shown, reverse=True)
        assert texts_in(opened, f"{table} th[aria-sort='descending']") == [title]


def test_search_narrows_the_list_and_the_pools_when_asked(opened):
    from selenium.webdriver.common.by import By

    query = opened.find_element(By.ID, "query")
    query.send_keys("SATZ 17")
    wait_for(opened, "document.getElementById('count').textContent === '1 of 60 sentences'")
    query.clear()
    query.send_keys("phrase 23")  # stands in a pool only
    wait_for(opened, "document.getElementById('count').textContent === '0 of 60 sentences'")
    opened.find_element(By.ID, "deep").click()
    wait_for(opened, "document.getElementById('count').textContent === '1 of 60 sentences'")


def test_only_differing_and_sorting(opened):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    opened.find_element(By.ID, "changed").click()
    differ = opened.execute_script("return state.data.sentences.filter(differs).length")
    assert 0 < differ < 60
    wait_for(opened, "document.querySelectorAll('#list li').length === arguments[0]", differ)
    opened.find_element(By.ID, "changed").click()
    Select(opened.find_element(By.ID, "sort")).select_by_visible_text("most distinct hypotheses")
    wait_for(opened, "document.querySelectorAll('#list li').length === 60")
    order = opened.execute_script("return state.order.map((i) => state.data.sentences[i].distinct)")
    assert order == sorted(order, reverse=True)


def test_keyboard_alone_reaches_everything(opened):
    from selenium.webdriver.common.keys import Keys

    press(opened, "j", "j", "k")
    wait_for(opened, "document.querySelector('main h2').textContent === 'Sentence 1'")
    press(opened, "/")
    assert opened.execute_script("return document.activeElement.id") == "query"
    press(opened, "j")  # a letter, while one types
    wait_for(opened, "document.querySelectorAll('#list li').length === 0")
    assert heading(opened) == "Sentence 1"
    press(opened, Keys.BACKSPACE)
    wait_for(opened, "document.querySelectorAll('#list li').length === 60")
    press(opened, *[Keys.TAB] * 8)  # sort, two boxes, three choices of gains and marks, saving
    assert opened.execute_script("return document.activeElement.dataset.position") == "1"  # one stop in the list
    press(opened, Keys.ARROW_DOWN)
    wait_for(opened, "document.activeElement.dataset.position === '2'")
    press(opened, Keys.END)
    wait_for(opened, "document.querySelector('main h2').textContent === 'Sentence 59'")
    assert opened.execute_script("return location.hash") == "#sentence=59"


def test_heat_map_shows_utilities_by_keyboard_and_pointer(opened):
    from selenium.webdriver.common.keys import Keys

    opened.execute_script("document.querySelector('main canvas').focus()")
    press(opened, Keys.ARROW_RIGHT)
    assert texts_in(opened, "#cell")[0].startswith(
        "row 1, column 1: u = 100.0hypothesis: a dog runsreference: a dog runs"
    )
    press(opened, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ARROW_UP)
    names = opened.execute_script("const d = await detailOf(0); return d.order.map((i) => d.hypotheses[i])")
    value = build_utility("chrf", {}).pairwise([names[0]], [names[1]])[0, 0]
    shown = re.fullmatch(r"row 1, column 2: u = ([\d.]+)hypothesis: (.+)reference: (.+)", texts_in(opened, "#cell")[0])
    assert float(shown[1]) == pytest.approx(value, abs=0.3) and list(shown.groups()[1:]) == names[:2]
    first, second = (
        opened.execute_script(
            "const c = document.querySelector('main canvas'); const half = c.cell / 2;"
            "return [...c.getContext('2d').getImageData(arguments[0] * c.cell + half, c.cell + half, 1, 1).data]", x
        )
        for x in (1, 3)
    )  # fmt: skip
    assert first[:3] == [0xFD, 0xE7, 0x25] != second[:3]  # u(h, h) is the brightest


def test_odd_texts_are_text(opened):
    press(opened, "j")
    wait_for(opened, "document.querySelector('main h2').textContent === 'Sentence 1'")
    shown = opened.execute_script(
        "return [...document.getElementById('source').textContent].map((c) => c.codePointAt(0))"
    )
    assert shown == [ord(character) for character in ODD]
    assert opened.execute_script("return document.querySelectorAll('main b').length") == 0
    empty = "return [...document.querySelectorAll('main td.text i')].map((e) => e.textContent)"
    assert opened.execute_script(empty) == ["(empty)"] * 2  # a hypothesis and a pseudo-reference
    assert "4 draws, 3 distinct" in texts_in(opened, "main summary")[0]


def test_chinese_differs_by_characters(opened):
    press(opened, "j", "j")
    wait_for(opened, "document.querySelector('main h2').textContent === 'Sentence 2'")
    assert texts_in(opened, "[aria-label='Choices'] del") == ["喜欢"]
    assert texts_in(opened, "[aria-label='Choices'] ins") == ["爱"]


def test_differences_are_longest_common_subsequences(opened):
    opened.set_script_timeout(20)
    agree = opened.execute_script(
        """
        const random = (seed) => () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
        const next = random(7), below = (limit) => Math.floor(next() * limit);
        const some = () => Array.from({length: below(7)}, () => "ab c"[below(4)]);
        const slow = (a, b) => !a.length || !b.length ? 0
          : a[0] === b[0] ? 1 + slow(a.slice(1), b.slice(1)) : Math.max(slow(a.slice(1), b), slow(a, b.slice(1)));
        for (let i = 0; i < 300; i++) {
          const a = some(), b = some(), parts = difference(a, b);
          const join = (...kinds) => parts.filter(([kind]) => kinds.includes(kind)).map(([, part]) => part).join("");
          if (join("same", "del") !== a.join("") || join("same", "ins") !== b.join("")) return [a, b, parts];
          if (join("same").length !== slow(a, b)) return [a, b, parts];
        }
        return true;
        """
    )
    assert agree is True


def sorted_by(browser, title):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element(By.ID, "sort")).select_by_visible_text(title)
    wait_for(browser, "state.listed === 60")
    shown = "return [...document.querySelectorAll('#list .number')].map((e) => e.children[0].textContent)"
    return browser.execute_script("return state.order"), browser.execute_script(shown)


def test_the_list_shows_what_it_is_sorted_by(opened):
    order, shown = sorted_by(opened, "gain in expected utility over beam")
    gains = opened.execute_script("return state.data.sentences.map((s) => s.expected[0] - s.expected[1])")
    assert [gains[i] for i in order] == sorted(gains, reverse=True)
    assert [float(text) for text in shown] == pytest.approx([gains[i] for i in order], abs=0.051)
    order, shown = sorted_by(opened, "closest decision")
    margins = opened.execute_script("return state.data.sentences.map((s) => s.margin)")
    assert [margins[i] for i in order] == sorted(margins)
    assert [float(text.removeprefix("by ")) for text in shown] == pytest.approx(sorted(margins), rel=0.01)


def test_gains_are_filtered_by_quadrant_and_by_frame(opened):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    gains = opened.execute_script("return state.data.sentences.map((s) => gains(s))")
    for name, signs in (("utility up, reference down", (1, -1)), ("utility up, reference up", (1, 1))):
        Select(opened.find_element(By.ID, "quadrant")).select_by_visible_text(name)
        wanted = [i for i, (x, y) in enumerate(gains) if x * signs[0] > 0 and y * signs[1] > 0]
        wait_for(opened, "JSON.stringify(state.order) === arguments[0]", json.dumps(wanted, separators=(",", ":")))
    assert wanted
    Select(opened.find_element(By.ID, "quadrant")).select_by_visible_text("all gains")
    wait_for(opened, "state.order.length === 60")
    opened.find_element(By.CSS_SELECTOR, "#gains summary").click()
    wait_for(opened, "document.getElementById('scatter').width > 240")
    canvas = opened.find_element(By.ID, "scatter")
    box = canvas.rect  # a frame over the right half
    ActionChains(opened).move_to_element_with_offset(
        canvas, 0, int(-box["height"] / 2) + 2
    ).click_and_hold().move_to_element_with_offset(
        canvas, int(box["width"] / 2) - 2, int(box["height"] / 2) - 2
    ).release().perform()
    wait_for(opened, "state.brush !== null")
    low, high = opened.execute_script("return state.brush[0]")
    wanted = [i for i, (x, _) in enumerate(gains) if low <= x <= high]
    wait_for(opened, "JSON.stringify(state.order) === arguments[0]", json.dumps(wanted, separators=(",", ":")))
    assert 0 < len(wanted) < 60
    opened.find_element(By.ID, "unbrush").click()
    wait_for(opened, "state.order.length === 60")
    best = max(range(60), key=lambda i: gains[i][0])  # a click opens the nearest point
    scale = "const s = scatterScale(document.getElementById('scatter'));"
    place = opened.execute_script(f"{scale} return [s.place(arguments[0], 0), s.place(arguments[1], 1)]", *gains[best])
    offset = [int(at - side / 2) for at, side in zip(place, (box["width"], box["height"]), strict=True)]
    ActionChains(opened).move_to_element_with_offset(canvas, *offset).click().perform()
    nearest = "gains(state.data.sentences[state.position]).every((value, axis) => value === arguments[axis])"
    wait_for(opened, nearest, *gains[best])


def test_the_list_is_saved_as_a_table(opened):
    opened.find_element("id", "query").send_keys("Satz 1")
    wait_for(opened, "state.order.length === 10")
    text = opened.execute_script("return exported()")
    rows = list(csv.reader(text.splitlines(), delimiter="\t"))
    assert rows[0] == ["id", "source", "reference", "DC-MBR", "DC-MBR: expected chrF", "DC-MBR: chrF to reference",
                       "beam", "beam: expected chrF", "beam: chrF to reference"]  # fmt: skip
    assert [row[0] for row in rows[1:]] == [str(i) for i in range(10, 20)] and len(rows[1]) == 9
    entry = opened.execute_script("return state.data.sentences[10]")
    assert rows[1][3] == entry["texts"][0] and float(rows[1][8]) == entry["quality"][1]
    opened.find_element("id", "query").clear()
    opened.find_element("id", "query").send_keys("{{")  # quotes and a line separator
    wait_for(opened, "state.order.length === 1")
    text = opened.execute_script(r"return exported().replaceAll('\ud800', '\ufffd')")  # the driver speaks UTF-8
    (_, row) = csv.reader(io.StringIO(text, newline=""), delimiter="\t")
    assert row[1] == ODD.replace("\ud800", "\ufffd")


def test_marks_are_against_the_system_that_is_chosen(opened):
    from selenium.webdriver.support.ui import Select

    heading_ = "return [...document.querySelectorAll('main h3')][0].textContent"
    assert opened.execute_script(heading_) == "Choices; words marked differ from DC-MBR"
    Select(opened.find_element("id", "base")).select_by_visible_text("beam")
    wait_for(opened, "[...document.querySelectorAll('main h3')][0].textContent.endsWith('beam')")
    assert texts_in(opened, "[aria-label='Choices'] tr:nth-child(1) ins") == ["a"]  # "a dog runs", not "the dog runs"


def test_no_word_of_a_heading_is_broken_on_a_narrow_screen(opened):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wait_for(opened, "innerWidth === 390 && document.documentElement.scrollWidth <= innerWidth")
    broken = opened.execute_script(
        """
        const found = [];
        const headings = document.querySelectorAll("h1, h2, h3, main thead th:not(.text), #systems th, summary");
        for (const heading of headings) {
          const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
          while (walker.nextNode())
            for (const match of walker.currentNode.data.matchAll(/[^\\s-]+/g)) {
              const range = document.createRange();
              range.setStart(walker.currentNode, match.index);
              range.setEnd(walker.currentNode, match.index + match[0].length);
              const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
              if (lines.size > 1) found.push(match[0]);
            }
        }
        return found;
        """
    )
    assert broken == []


@pytest.mark.parametrize("size", [(390, 800), (1280, 900)])
def test_the_address_brings_the_sentence_into_view(opened, page, size):
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 720}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened.get("about:blank")
    opened.get(page.as_uri() + "#sentence=29")
    wait_for(opened, "document.documentElement.dataset.ready")
    for sentence in (29, 47):
        wait_for(opened, "document.querySelector('main h2').textContent === arguments[0]", f"Sentence {sentence}")
        in_view = (
            "(() => { const e = arguments[0] === 'h' ? document.querySelector('main h2') : document.querySelector("
            "'#list [aria-current]'); const b = e.getBoundingClientRect(); const l = document.getElementById('list')"
            ".getBoundingClientRect(); return arguments[0] === 'h' ? b.top >= -1 && b.bottom <= innerHeight"
            " : b.bottom > l.top && b.top < l.bottom; })()"
        )
        wait_for(opened, in_view, "h")
        wait_for(opened, in_view, "list")
        opened.execute_script("location.hash = '#sentence=47'")


@pytest.mark.parametrize("width", [320, 360, 390, 700])
def test_narrow_screens_need_no_sideways_scrolling(opened, width):
    metrics = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    for sentence in (0, 1):
        wait_for(opened, "document.documentElement.scrollWidth <= innerWidth && innerWidth === arguments[0]", width)
        box = opened.execute_script(
            "return document.querySelector('[aria-label=\"Hypothesis pool\"] td.text').getBoundingClientRect().toJSON()"
        )
        assert box["left"] >= 0 and box["right"] <= width, sentence
        press(opened, "j")


def test_theme_follows_the_system_and_the_button(opened):
    from selenium.webdriver.common.by import By

    def dark() -> bool:
        return opened.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"

    for scheme in ("dark", "light"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        assert dark() == (scheme == "dark")
    button = opened.find_element(By.ID, "theme")
    for expected in (False, True, False):  # light, dark, automatic
        button.click()
        assert dark() == expected


def test_address_opens_a_sentence(opened, page):
    opened.get("about:blank")
    opened.get(page.as_uri() + "#sentence=31")
    wait_for(opened, "document.documentElement.dataset.ready")
    assert heading(opened) == "Sentence 31"


def test_the_head_names_the_models_by_what_they_hold():
    def record(fingerprint):
        sources = Part("s", {"data": "bin", "subset": "t"})
        parts = {"checkpoint": Part(fingerprint, {"files": ["m.pt"]}), "sources": sources}
        return Record(0, Pools.of([pool_of(["a"])], "x"), {"identity": Identity(parts).fields()})

    facts = describe([record("aa"), record("bb")], [build_utility("chrf", {})], [], None).facts
    assert facts == {"model": "m.pt (aa), m.pt (bb)", "data": "bin", "subset": "t"}


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"expected_utilities": [float("nan"), 1]}, "line 2: not a JSON object (NaN is no number of JSON)"),
        ({"settings": {"deep": [float("inf")]}}, "line 2: not a JSON object (Infinity is no number of JSON)"),
        ({"schema_version": 9}, "line 2: field schema_version is 9"),
    ],
)
def test_records_that_no_browser_reads_are_refused_with_the_line(tmp_path, capsys, fields, message):
    path = tmp_path / "pools.jsonl"
    rows = [{"hypotheses": ["a", "b"]}, {"hypotheses": ["a", "b"], **fields}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 1
    assert f"{path}, {message}" in capsys.readouterr().err and not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("fields", [{"settings": ["x"]}, {"settings": {"utility": "chrf", "utility_args": 3}}])
def test_settings_of_others_do_not_break_the_page(tmp_path, fields):
    (tmp_path / "pools.jsonl").write_text(json.dumps({"hypotheses": ["a", "b"], **fields}) + "\n")
    assert main(["report", str(tmp_path / "pools.jsonl"), "-o", str(tmp_path / "page.html")]) == 0
