"use strict";
// One page, no network. The index is unpacked at once; blocks of pools and heat maps when they are looked at.

const PAGE = 300; // sentences listed at once
const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
const $ = (id) => document.getElementById(id);
const state = { data: null, order: [], listed: 0, position: -1, blocks: new Map(), sort: null, digits: [],
  brush: null };

// --- data ---------------------------------------------------------------------------------------------------------

async function unpack(id) {
  const packed = Uint8Array.from(atob($(id).textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackBlock(number) {
  const bytes = await unpack(`block-${number}`);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const details = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let start = 4 + length;
  for (const detail of details) {
    detail.shared = !detail.references;
    detail.references = detail.references || detail.hypotheses;
    detail.referenceCounts = detail.referenceCounts || detail.counts;
    const size = detail.rows * detail.columns.length;
    detail.cells = bytes.subarray(start, start + size);
    start += size;
  }
  return details;
}

function block(number) {
  if (!state.blocks.has(number)) state.blocks.set(number, unpackBlock(number));
  return state.blocks.get(number);
}

async function detailOf(position) {
  return (await block(Math.floor(position / state.data.block)))[position % state.data.block];
}

// --- small helpers ------------------------------------------------------------------------------------------------

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function text(tag, content, properties = {}) {
  return element(tag, { dir: "auto", ...properties }, content === "" ? element("i", {}, "(empty)") : content);
}

// A number on the scale of a utility: chrF runs from 0 to 100, BLEURT about from 0 to 1.
function shown(value, utility = 0) {
  return value === undefined || value === null ? "-" : value.toFixed(state.digits[utility]);
}

const signed = (value) => (value > 0 ? "+" : "") + shown(value);

// The numbers of a sentence by each utility: the first stand in the sentence itself.
const byUtility = (numbers) => [numbers, ...(numbers.further || [])];

const ranking = (values) => values.map((_, i) => i).sort((a, b) => values[b] - values[a] || a - b);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const differs = (sentence) => sentence.texts.some((other) => other !== sentence.texts[0]);

// --- word differences ---------------------------------------------------------------------------------------------

// Words with what follows them; scripts written without spaces fall into characters.
function words(line) {
  const single = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff";
  return line.match(new RegExp(`[${single}]|[^\\s${single}]+|\\s+`, "gu")) || [];
}

// The longest common subsequence of words, as [kind, words]; kind is "same", "ins" (only in b) or "del" (only in a).
function difference(a, b) {
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i * width + j] = a[i] === b[j]
        ? length[(i + 1) * width + j + 1] + 1
        : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
  const parts = [];
  const add = (kind, word) => {
    if (parts.length && parts[parts.length - 1][0] === kind) parts[parts.length - 1][1] += word;
    else parts.push([kind, word]);
  };
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("same", a[i]); i++; j++; continue; }
    const dropped = j === b.length || (i < a.length && length[(i + 1) * width + j] >= length[i * width + j + 1]);
    if (dropped) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  return parts;
}

function marked(before, after) {
  if (before === after || after === "") return text("span", after);
  const out = element("span", { dir: "auto" });
  for (const [kind, part] of difference(words(before), words(after)))
    out.append(kind === "same" ? part : element(kind, {}, part));
  return out;
}

// --- the list of sentences ----------------------------------------------------------------------------------------

// Ways to sort: title, key of a sentence (least first), and what the list shows of it.
function sortings() {
  const { sentences, systems } = state.data;
  const found = [["file order", (s, i) => i, () => ""],
    ["closest decision", (s) => (s.margin === null ? Infinity : s.margin),
      (s) => (s.margin === null ? "one text only" : `by ${s.margin.toPrecision(3)}`)],
    ["least sure", (s) => s.expected[0], (s) => shown(s.expected[0])],
    ["most distinct hypotheses", (s) => -s.distinct, (s) => `${s.distinct} distinct`],
    ["longest source", (s) => -s.source.length, (s) => `${s.source.length} characters`]];
  for (let k = 1; k < systems.length; k++) {
    const gain = (s) => s.expected[0] - s.expected[k], better = (s) => s.quality[0] - s.quality[k];
    found.push([`gain in expected utility over ${systems[k]}`, (s) => -gain(s), (s) => signed(gain(s))]);
    if (sentences[0].quality) {
      found.push([`better than ${systems[k]} (reference)`, (s) => -better(s), (s) => signed(better(s))]);
      found.push([`worse than ${systems[k]} (reference)`, better, (s) => signed(better(s))]);
    }
  }
  return found;
}

async function matches(query, deep) {
  const wanted = query.toLocaleLowerCase().trim();
  const hits = (line) => line !== undefined && line.toLocaleLowerCase().includes(wanted);
  const found = [];
  for (const [position, s] of state.data.sentences.entries()) {
    let hit = wanted === "" || String(s.id) === wanted || hits(s.source) || hits(s.reference) || s.texts.some(hits);
    if (!hit && deep) {
      const detail = await detailOf(position);
      hit = detail.hypotheses.some(hits) || detail.references.some(hits);
    }
    if (hit) found.push(position);
  }
  return found;
}

let searches = 0;

async function refresh() {
  const { sentences } = state.data;
  const search = ++searches;
  const found = await matches($("query").value, $("deep").checked);
  if (search !== searches) return; // a newer search has begun meanwhile
  const [, key] = state.sort[$("sort").selectedIndex];
  const keys = new Map(found.map((position) => [position, key(sentences[position], position)]));
  state.order = found.filter((position) => !$("changed").checked || differs(sentences[position]))
    .filter((position) => fits(sentences[position]))
    .sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  $("count").textContent = `${state.order.length} of ${sentences.length} sentences`;
  $("list").replaceChildren();
  state.listed = 0;
  $("export").disabled = !state.order.length;
  listMore();
  markCurrent();
  drawScatter();
}

function listMore(until = 0) {
  const next = state.order.slice(state.listed, Math.max(state.listed + PAGE, until));
  $("list").append(...next.map(listItem));
  state.listed += next.length;
  $("more").hidden = state.listed >= state.order.length;
}

function listItem(position) {
  const sentence = state.data.sentences[position];
  const [, , value] = state.sort[$("sort").selectedIndex];
  const top = element("span", { className: "number" }, `${sentence.id}`, element("span", {}, value(sentence)),
    differs(sentence) ? element("span", { className: "tag" }, "differ") : "");
  const line = sentence.source || sentence.texts[0];
  const button = element("button", { type: "button", tabIndex: -1 }, top, text("span", line, { className: "clip" }));
  button.dataset.position = position;
  return element("li", {}, button);
}

function markCurrent() {
  for (const button of $("list").querySelectorAll("[tabindex='0']")) {
    button.tabIndex = -1;
    button.removeAttribute("aria-current");
  }
  const current = $("list").querySelector(`[data-position="${state.position}"]`);
  if (current) current.setAttribute("aria-current", "true");
  const stop = current || $("list").querySelector("button"); // one stop for the tab key in the whole list
  if (stop) stop.tabIndex = 0;
  return current;
}

async function step(by, focus) {
  if (!state.order.length) return;
  const at = state.order.indexOf(state.position);
  const next = at < 0 ? 0 : Math.min(Math.max(at + by, 0), state.order.length - 1);
  if (next >= state.listed) listMore(next + 1);
  await show(state.order[next]);
  const current = markCurrent();
  if (current) {
    current.scrollIntoView({ block: "nearest" });
    if (focus) current.focus({ preventScroll: true });
  }
}

// --- gains: the decision against another system, by expected utility and by the reference ---------------------------

const against = () => Number($("against").value || 1);
const gains = (s, k = against()) => [s.expected[0] - s.expected[k], s.quality ? s.quality[0] - s.quality[k] : 0];

// Whether a sentence is in the quadrant that is chosen ("+-": utility up, reference down) and in the frame drawn.
function fits(sentence) {
  if (state.data.systems.length < 2) return true;
  const gain = gains(sentence), frame = state.brush;
  const signs = [...$("quadrant").value];
  return signs.every((sign, axis) => sign === "*" || (sign === "+" ? gain[axis] > 0 : gain[axis] < 0))
    && (!frame || gain.every((value, axis) => frame[axis][0] <= value && value <= frame[axis][1]));
}

function scatterScale(canvas) {
  const points = state.data.sentences.map((s) => gains(s));
  const size = [canvas.width, canvas.height], margin = 30;
  const ends = [0, 1].map((axis) => {
    const values = points.map((point) => point[axis]);
    const low = Math.min(0, ...values), high = Math.max(0, ...values);
    return [low, high > low ? high : low + 1];
  });
  const place = (value, axis) => {
    const share = (value - ends[axis][0]) / (ends[axis][1] - ends[axis][0]);
    const at = margin + share * (size[axis] - 2 * margin);
    return axis ? size[1] - at : at;
  };
  const value = (at, axis) => {
    const share = ((axis ? size[1] - at : at) - margin) / (size[axis] - 2 * margin);
    return ends[axis][0] + share * (ends[axis][1] - ends[axis][0]);
  };
  return { points, ends, place, value };
}

function drawScatter(drag = null) {
  const canvas = $("scatter");
  if (!$("gains").open || $("gains").hidden) return;
  canvas.width = Math.max(240, Math.min(640, canvas.parentElement.clientWidth));
  canvas.height = Math.round(canvas.width * 0.45);
  const { points, ends, place } = scatterScale(canvas);
  const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(name).trim();
  const line = (from, to) => { context.beginPath(); context.moveTo(...from); context.lineTo(...to); context.stroke(); };
  context.strokeStyle = ink("--line");
  line([place(0, 0), 0], [place(0, 0), canvas.height]);
  line([0, place(0, 1)], [canvas.width, place(0, 1)]);
  const listed = new Set(state.order);
  points.forEach(([x, y], position) => {
    context.fillStyle = ink(listed.has(position) ? "--accent" : "--line");
    context.beginPath();
    context.arc(place(x, 0), place(y, 1), 3, 0, 2 * Math.PI);
    context.fill();
    if (position === state.position) { context.strokeStyle = ink("--ink"); context.stroke(); }
  });
  context.fillStyle = ink("--soft");
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "left";
  context.fillText(`reference ${signed(ends[1][1])}`, 2, 12);
  context.fillText(`reference ${signed(ends[1][0])}, expected utility ${signed(ends[0][0])}`, 2, canvas.height - 4);
  context.textAlign = "right";
  context.fillText(signed(ends[0][1]), canvas.width - 2, canvas.height - 4);
  const frame = drag || (state.brush && state.brush.map((range, axis) => range.map((value) => place(value, axis))));
  if (frame) {
    context.strokeStyle = ink("--ink");
    context.strokeRect(frame[0][0], frame[1][0], frame[0][1] - frame[0][0], frame[1][1] - frame[1][0]);
  }
}

function noteOnGains() {
  const { sentences, systems, utilities } = state.data, k = against();
  const count = (test) => sentences.filter((s) => test(...gains(s, k))).length;
  const [both, utility, reference, neither] = [[1, 1], [1, -1], [-1, 1], [-1, -1]].map(
    ([right, up]) => count((x, y) => x * right > 0 && y * up > 0));
  $("gains-note").textContent = `A point for each sentence; to the right ${systems[0]} has more expected utility ` +
    `(${utilities[0]}) than ${systems[k]}, up more utility against the reference. Both: ${both}, expected utility ` +
    `alone: ${utility}, reference alone: ${reference}, neither: ${neither}. A click opens a sentence, a frame lists ` +
    "what is in it.";
}

function unframe() {
  state.brush = null;
  $("unbrush").hidden = true;
  refresh();
}

function listenToScatter() {
  const canvas = $("scatter");
  let start = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spans = (end) => [0, 1].map((axis) => [start[axis], end[axis]].sort((a, b) => a - b));
  canvas.addEventListener("pointerdown", (event) => { start = at(event); canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => { if (start) drawScatter(spans(at(event))); });
  canvas.addEventListener("pointerup", (event) => {
    if (!start) return;
    const frame = spans(at(event)), { points, place, value } = scatterScale(canvas);
    if (frame.every(([low, high]) => high - low < 5)) {
      const far = ([x, y]) => Math.hypot(place(x, 0) - start[0], place(y, 1) - start[1]);
      const nearest = points.reduce((best, point, i) => (far(point) < far(points[best]) ? i : best), 0);
      start = null;
      open(nearest);
      return;
    }
    start = null;
    state.brush = frame.map((range, axis) => range.map((place) => value(place, axis)).sort((a, b) => a - b));
    $("unbrush").hidden = false;
    refresh();
  });
  $("unbrush").addEventListener("click", unframe);
  $("gains").addEventListener("toggle", () => drawScatter());
}

// What is listed, as a table: tab-separated, cells with tabs, quotes or line breaks in quotes.
function exported() {
  const { sentences, systems, utilities } = state.data, quality = sentences[0].quality;
  const names = systems.flatMap((system) => [system, ...utilities.flatMap((utility) =>
    [`${system}: expected ${utility}`, ...(quality ? [`${system}: ${utility} to reference`] : [])])]);
  const rows = state.order.map((position) => {
    const s = sentences[position];
    const numbers = systems.flatMap((_, k) => [s.texts[k], ...byUtility(s).flatMap((own) =>
      [own.expected[k], ...(quality ? [own.quality[k]] : [])])]);
    return [s.id, s.source, ...(quality ? [s.reference] : []), ...numbers];
  });
  const quoted = (cell) => (/[\t\n\r"]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));
  const header = ["id", "source", ...(quality ? ["reference"] : []), ...names];
  return [header, ...rows].map((row) => row.map(quoted).join("\t") + "\n").join("");
}

function save() {
  const url = URL.createObjectURL(new Blob([exported()], { type: "text/tab-separated-values" }));
  element("a", { href: url, download: "sentences.tsv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// --- one sentence -------------------------------------------------------------------------------------------------

async function show(position) {
  state.position = position;
  const sentence = state.data.sentences[position];
  const detail = await detailOf(position);
  if (state.position !== position) return; // another one was chosen meanwhile
  history.replaceState(null, "", `#sentence=${encodeURIComponent(sentence.id)}`);
  const rows = detail.order;
  const several = state.data.systems.length > 1;
  const marks = several ? `Choices; words marked differ from ${state.data.systems[base()]}` : "Choices";
  $("sentence").replaceChildren(
    element("h2", {}, `Sentence ${sentence.id}`), textsOf(sentence),
    element("h3", {}, marks), choices(sentence, detail, rows),
    element("h3", {}, `Hypothesis pool: ${sentence.draws} draws, ${sentence.distinct} distinct`),
    pool(sentence, detail, rows),
    element("h3", {}, "Utilities"), ...heatMap(sentence, detail, rows),
    ...(detail.shared ? [] : [referencePool(detail)]),
  );
  $("sentence").querySelector("canvas").draw();
  markCurrent();
  drawScatter();
}

// The system that word differences are taken against.
const base = () => Number($("base").value || 0);

// Show a sentence and bring it into view, in the list and on the page.
async function open(position) {
  const at = state.order.indexOf(position);
  if (at >= state.listed) listMore(at + 1);
  await show(position);
  const current = markCurrent();
  if (current) current.scrollIntoView({ block: "nearest" });
  $("sentence").scrollIntoView({ block: "start" });
}

function textsOf(sentence) {
  const list = element("dl");
  if (sentence.source) list.append(element("dt", {}, "source"), text("dd", sentence.source, { id: "source" }));
  if (sentence.reference !== undefined) list.append(element("dt", {}, "reference"), text("dd", sentence.reference));
  return list;
}

// A table in a frame that scrolls by itself; on narrow screens its rows stack (page.css), so the roles are spelt out.
function table(header, body, name) {
  const head = element("thead", { role: "rowgroup" }, tableRow("", ...header));
  const made = element("table", { role: "table", "aria-label": name }, head, body);
  const frame = element("div", { className: "scroll stack", tabIndex: 0, role: "region", "aria-label": name }, made);
  frame.style.setProperty("--numbers", header.length - 1);
  return frame;
}

const bodyOf = (rows) => element("tbody", { role: "rowgroup" }, ...rows);
const tableRow = (className, ...cells) => element("tr", { role: "row", className }, ...cells);

const heading = (title, className = "") => element("th", { scope: "col", role: "columnheader", className }, title);
const rowHeading = (title) => element("th", { scope: "row", role: "rowheader", className: "system" }, title);
const cell = (content, className = "") => element("td", { role: "cell", className }, content);

// The headings of the numbers by each utility; one utility needs no name.
function numberTitles(quality) {
  const { utilities } = state.data, named = (title, name) => (utilities.length > 1 ? `${title}, ${name}` : title);
  return utilities.flatMap((name) =>
    [named("expected utility", name), ...(quality ? [named("to reference", name)] : [])]);
}

function choices(sentence, detail, rows) {
  const quality = sentence.quality, { systems } = state.data;
  const header = [heading("system", "system"), ...numberTitles(quality).map((title) => heading(title)),
    heading("drawn"), heading("rank"), heading("translation", "text")];
  const lines = systems.map((system, k) => {
    const at = detail.hypotheses.indexOf(sentence.texts[k]);
    const same = k !== base() && sentence.texts[k] === sentence.texts[base()];
    const translation = same
      ? element("span", {}, `as ${systems[base()]}`)
      : marked(sentence.texts[base()], sentence.texts[k]);
    const numbers = byUtility(sentence).flatMap((own, u) =>
      [cell(shown(own.expected[k], u)), ...(quality ? [cell(shown(own.quality[k], u))] : [])]);
    return tableRow(k === 0 ? "chosen" : "", rowHeading(system), ...numbers,
      cell(at < 0 ? "-" : `${detail.counts[at]}×`), cell(at < 0 ? "-" : rows.indexOf(at) + 1),
      cell(translation, "text"));
  });
  return table(header, bodyOf(lines), "Choices");
}

// The columns of the pool: title, value of hypothesis i, how it is shown. All but the rank sort downwards.
function poolColumns(sentence, detail, rows) {
  const rank = new Map(rows.map((i, place) => [i, place + 1]));
  const columns = [["rank", (i) => -rank.get(i), (i) => rank.get(i)],
    ["drawn", (i) => detail.counts[i], (i) => `${detail.counts[i]}×`]];
  const titles = numberTitles(detail.quality), numbers = byUtility(detail).flatMap((own, u) =>
    [[own.expected, u], ...(detail.quality ? [[own.quality, u]] : [])]);
  numbers.forEach(([values, u], n) => columns.push([titles[n], (i) => values[i], (i) => shown(values[i], u)]));
  const other = detail.recorded && detail.recorded.some((value, i) => Math.abs(value - detail.expected[i]) > 0.01);
  if (other) // another utility, other weights, or the estimates of a pruned decision
    columns.push(["decided by", (i) => detail.recorded[i], (i) => detail.recorded[i].toFixed(3)]);
  columns.push(["log-prob", (i) => detail.logProb[i], (i) => detail.logProb[i].toFixed(1)]);
  return columns;
}

function pool(sentence, detail, rows) {
  const columns = poolColumns(sentence, detail, rows);
  const body = bodyOf([]);
  const header = columns.map(([title], c) => {
    const button = element("button", { type: "button" }, title);
    const head = heading(button);
    button.addEventListener("click", () => fill(c));
    return head;
  });
  const fill = (c) => {
    for (const head of header) head.removeAttribute("aria-sort");
    header[c].setAttribute("aria-sort", c ? "descending" : "ascending");
    const order = rows.slice().sort((a, b) => columns[c][1](b) - columns[c][1](a)); // stable: ties keep their rank
    body.replaceChildren(...order.map((i) => poolRow(sentence, detail, columns, i)));
  };
  fill(0);
  return table([...header, heading("hypothesis", "text")], body, "Hypothesis pool");
}

function poolRow(sentence, detail, columns, i) {
  const cells = columns.map(([, , show], c) => {
    const made = cell(show(i));
    if (c === 2) { // the expected utility that the rows are ranked by
      const span = state.data.high - Math.min(0, state.data.low) || 1;
      made.className = "bar";
      made.style.setProperty("--share", `${(100 * (detail.expected[i] - Math.min(0, state.data.low))) / span}%`);
    }
    return made;
  });
  const by = state.data.systems.filter((_, k) => sentence.texts[k] === detail.hypotheses[i]);
  const line = cell(marked(sentence.texts[base()], detail.hypotheses[i]), "text");
  line.append(...by.flatMap((name) => [" ", element("span", { className: "tag" }, name)]));
  return tableRow(sentence.texts[0] === detail.hypotheses[i] ? "chosen" : "", ...cells, line);
}

function referencePool(detail) {
  const order = ranking(detail.referenceCounts);
  const lines = order.map((j) =>
    tableRow("", cell(`${detail.referenceCounts[j]}×`), cell(text("span", detail.references[j]), "text")));
  const draws = detail.referenceCounts.reduce((a, b) => a + b, 0);
  return element("details", {}, element("summary", {}, `Reference pool: ${draws} draws, ${order.length} distinct`),
    table([heading("drawn"), heading("pseudo-reference", "text")], bodyOf(lines), "Reference pool"));
}

// --- heat map -----------------------------------------------------------------------------------------------------

function color(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const channel = (stop, c) => parseInt(VIRIDIS[stop].slice(2 * c, 2 * c + 2), 16);
  return [0, 1, 2].map((c) => Math.round(channel(low, c) + (place - low) * (channel(low + 1, c) - channel(low, c))));
}

function heatMap(sentence, detail, rows) {
  const step = (detail.high - detail.low) / state.data.levels;
  const columns = detail.columns, width = columns.length;
  const map = {
    height: detail.rows, width, row: 0, column: 0, active: false,
    chosen: rows.slice(0, detail.rows).findIndex((i) => detail.hypotheses[i] === sentence.texts[0]),
    value: (row, column) => detail.low + step * detail.cells[row * width + column],
    hypothesis: (row) => detail.hypotheses[rows[row]],
    reference: (column) => detail.references[columns[column]],
  };
  const output = element("output", { id: "cell" });
  const name = `${map.height} hypotheses by ${width} references; arrow keys move from cell to cell`;
  const canvas = element("canvas", { tabIndex: 0, role: "img", "aria-label": name, "aria-describedby": "cell" });
  const stretch = element("input", { type: "checkbox" });
  canvas.draw = () => drawHeatMap(canvas, map, stretch.checked ? detail : state.data);
  stretch.addEventListener("change", canvas.draw);
  listenToHeatMap(canvas, map, output);
  const order = detail.shared
    ? "The pool plays both parts: rows and columns by expected utility."
    : "Rows by expected utility, columns by how often they were drawn.";
  const whole = map.height === rows.length && width === detail.references.length;
  const part = whole ? "" : ` The first ${map.height} by ${width}.`;
  const note = `${order}${part} The framed row is the choice of ${state.data.systems[0]}.`;
  return [element("p", { className: "note" }, note),
    element("div", { className: "scroll", id: "heat" }, canvas), output, legend(stretch)];
}

function drawHeatMap(canvas, map, range) {
  const size = Math.max(4, Math.min(22, Math.floor(canvas.parentElement.clientWidth / map.width)));
  const span = range.high - range.low || 1;
  Object.assign(canvas, { cell: size, width: map.width * size, height: map.height * size });
  const context = canvas.getContext("2d");
  for (let row = 0; row < map.height; row++)
    for (let column = 0; column < map.width; column++) {
      context.fillStyle = `rgb(${color((map.value(row, column) - range.low) / span)})`;
      context.fillRect(column * size, row * size, size, size);
    }
  if (map.chosen >= 0) frame(context, "#ff3b30", map.chosen, 0, map.width, size);
  if (map.active) frame(context, "#ffffff", map.row, map.column, 1, size);
}

function frame(context, style, row, column, cells, size) {
  context.lineWidth = 2;
  context.strokeStyle = style;
  context.strokeRect(column * size + 1, row * size + 1, cells * size - 2, size - 2);
}

function point(canvas, map, output, row, column) {
  const clamp = (place, size) => Math.min(Math.max(place, 0), size - 1);
  Object.assign(map, { row: clamp(row, map.height), column: clamp(column, map.width), active: true });
  canvas.draw();
  output.replaceChildren(`row ${map.row + 1}, column ${map.column + 1}: u = ${shown(map.value(map.row, map.column))}`,
    element("br"), "hypothesis: ", text("span", map.hypothesis(map.row)),
    element("br"), "reference: ", text("span", map.reference(map.column)));
}

function listenToHeatMap(canvas, map, output) {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const [down, right] = map.active ? move : [0, 0]; // the first key shows where one is
    point(canvas, map, output, map.row + down, map.column + right);
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const place = [event.clientY - box.top, event.clientX - box.left].map((at) => Math.floor(at / canvas.cell));
    point(canvas, map, output, ...place);
  });
}

function legend(stretch) {
  const ramp = element("span", { className: "ramp", role: "presentation" });
  ramp.style.background = `linear-gradient(to right, ${VIRIDIS.map((stop) => `#${stop}`).join(", ")})`;
  const low = element("span", {}, shown(state.data.low)), high = element("span", {}, shown(state.data.high));
  stretch.addEventListener("change", async () => {
    const range = stretch.checked ? await detailOf(state.position) : state.data;
    low.textContent = shown(range.low);
    high.textContent = shown(range.high);
  });
  const label = element("label", {}, stretch, " stretch to this sentence");
  return element("div", { className: "legend" }, low, ramp, high, label);
}

// --- start --------------------------------------------------------------------------------------------------------

function about() {
  const { sentences, signatures, decidedBy, facts } = state.data;
  const parts = [`${sentences.length} sentences`, `utility: ${signatures.join("; ")}`];
  if (decidedBy && decidedBy !== signatures[0]) parts.push(`decided by: ${decidedBy}`);
  $("about").textContent = parts.join(" · ");
  const said = Object.entries(facts).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
  $("facts").textContent = said.join(" · ");
}

function summary() {
  const { sentences, systems } = state.data;
  const quality = sentences[0].quality;
  const header = [heading("system", "system"), ...numberTitles(quality).map((title) => heading(`mean ${title}`)),
    heading(`same as ${systems[0]}`)];
  const rows = systems.map((system, k) => tableRow("", rowHeading(system),
    ...byUtility(sentences[0]).flatMap((_, u) => {
      const over = (name) => cell(shown(mean(sentences.map((s) => byUtility(s)[u][name][k])), u));
      return [over("expected"), ...(quality ? [over("quality")] : [])];
    }),
    cell(sentences.filter((s) => s.texts[k] === s.texts[0]).length)));
  $("systems").append(element("thead", {}, tableRow("", ...header)), bodyOf(rows));
}

// The choices that only pages with several systems, or with references, need.
function offer() {
  const { sentences, systems } = state.data, several = systems.length > 1, quality = Boolean(sentences[0].quality);
  const option = (k) => element("option", { value: String(k) }, systems[k]);
  $("base").append(...systems.map((_, k) => option(k)));
  $("against").append(...systems.slice(1).map((_, k) => option(k + 1)));
  const quadrants = quality
    ? [["**", "all gains"], ["++", "utility up, reference up"], ["+-", "utility up, reference down"],
      ["-+", "utility down, reference up"], ["--", "utility down, reference down"]]
    : [["**", "all gains"], ["+*", "utility up"], ["-*", "utility down"]];
  $("quadrant").append(...quadrants.map(([value, title]) => element("option", { value }, title)));
  for (const id of ["changed", "base", "against", "quadrant"]) $(id).parentElement.hidden = !several;
  $("gains").hidden = !(several && quality);
  if (several && quality) noteOnGains();
}

function listen() {
  let waiting = 0;
  $("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 120); });
  for (const id of ["sort", "changed", "deep", "quadrant"]) $(id).addEventListener("change", refresh);
  $("against").addEventListener("change", () => { noteOnGains(); unframe(); });
  $("base").addEventListener("change", () => show(state.position));
  $("export").addEventListener("click", save);
  listenToScatter();
  $("more").addEventListener("click", () => { listMore(); markCurrent(); });
  $("list").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (matchMedia("(max-width: 720px)").matches) open(Number(button.dataset.position)); // it stands below the list
    else show(Number(button.dataset.position));
  });
  $("list").addEventListener("keydown", (event) => {
    const far = state.order.length;
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -far, End: far }[event.key];
    if (by) { event.preventDefault(); step(by, true); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1, false);
    if (event.key === "/") { event.preventDefault(); $("query").focus(); }
  });
  window.addEventListener("resize", () => document.querySelectorAll("main canvas").forEach((canvas) => canvas.draw()));
  window.addEventListener("resize", () => drawScatter());
  window.addEventListener("hashchange", () => { if (linked() >= 0) open(linked()); });
  $("theme").addEventListener("click", changeTheme);
}

function changeTheme() {
  const names = ["automatic", "light", "dark"];
  const next = names[(names.indexOf(document.documentElement.dataset.theme || "automatic") + 1) % 3];
  if (next === "automatic") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  $("theme").textContent = `Theme: ${next}`;
  drawScatter();
}

// The sentence that the address names (#sentence=ID), or -1.
function linked() {
  const match = location.hash.match(/^#sentence=(.+)$/);
  return match ? state.data.sentences.findIndex((s) => String(s.id) === decodeURIComponent(match[1])) : -1;
}

async function start() {
  if (typeof DecompressionStream === "undefined") {
    $("about").textContent = "This browser is too old for the page: it needs DecompressionStream (all since 2023).";
    return;
  }
  state.data = JSON.parse(new TextDecoder().decode(await unpack("index")));
  const scale = (values) => (Math.max(...values) > 2 ? 1 : 3);
  state.digits = state.data.utilities.map((_, u) =>
    u === 0 ? scale([state.data.high]) : scale(state.data.sentences.map((s) => s.further[u - 1].expected[0])));
  state.sort = sortings();
  $("sort").append(...state.sort.map(([title]) => element("option", {}, title)));
  offer();
  about();
  summary();
  listen();
  await refresh();
  if (linked() >= 0) await open(linked());
  else await show(0);
  document.documentElement.dataset.ready = "true";
}

start();
