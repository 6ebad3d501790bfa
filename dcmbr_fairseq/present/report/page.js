"use strict";
// One page, no network. The index is unpacked at once; blocks of pools and heat maps when they are looked at.

const PAGE = 300; // sentences listed at once
const VIRIDIS = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];
const $ = (id) => document.getElementById(id);
const state = { data: null, order: [], listed: 0, position: -1, blocks: new Map(), sort: null };

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

function shown(value) {
  if (value === undefined || value === null) return "-";
  return value.toFixed(state.data.high > 2 ? 1 : 3); // chrF runs from 0 to 100, BLEURT about from 0 to 1
}

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

function sortings() {
  const { sentences, systems } = state.data;
  const found = [["file order", (s, i) => i], ["closest decision", (s) => s.margin],
    ["least sure", (s) => s.expected[0]], ["most distinct hypotheses", (s) => -s.distinct],
    ["longest source", (s) => -s.source.length]];
  for (let k = 1; k < systems.length; k++) {
    found.push([`gain in expected utility over ${systems[k]}`, (s) => s.expected[k] - s.expected[0]]);
    if (sentences[0].quality) {
      found.push([`better than ${systems[k]} (reference)`, (s) => s.quality[k] - s.quality[0]]);
      found.push([`worse than ${systems[k]} (reference)`, (s) => s.quality[0] - s.quality[k]]);
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
    .sort((a, b) => keys.get(a) - keys.get(b) || a - b);
  $("count").textContent = `${state.order.length} of ${sentences.length} sentences`;
  $("list").replaceChildren();
  state.listed = 0;
  listMore();
  markCurrent();
}

function listMore(until = 0) {
  const next = state.order.slice(state.listed, Math.max(state.listed + PAGE, until));
  $("list").append(...next.map(listItem));
  state.listed += next.length;
  $("more").hidden = state.listed >= state.order.length;
}

function listItem(position) {
  const sentence = state.data.sentences[position];
  const top = element("span", { className: "number" }, `${sentence.id}`,
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

// --- one sentence -------------------------------------------------------------------------------------------------

async function show(position) {
  state.position = position;
  const sentence = state.data.sentences[position];
  const detail = await detailOf(position);
  if (state.position !== position) return; // another one was chosen meanwhile
  history.replaceState(null, "", `#sentence=${encodeURIComponent(sentence.id)}`);
  const rows = detail.order;
  $("sentence").replaceChildren(
    element("h2", {}, `Sentence ${sentence.id}`), textsOf(sentence),
    element("h3", {}, "Choices"), choices(sentence, detail, rows),
    element("h3", {}, `Hypothesis pool: ${sentence.draws} draws, ${sentence.distinct} distinct`),
    pool(sentence, detail, rows),
    element("h3", {}, "Utilities"), ...heatMap(sentence, detail, rows),
    ...(detail.shared ? [] : [referencePool(detail)]),
  );
  $("sentence").querySelector("canvas").draw();
  markCurrent();
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

function choices(sentence, detail, rows) {
  const quality = sentence.quality;
  const header = [heading("system", "system"), heading("expected utility"),
    ...(quality ? [heading("to reference")] : []), heading("drawn"), heading("rank"), heading("translation", "text")];
  const lines = state.data.systems.map((system, k) => {
    const at = detail.hypotheses.indexOf(sentence.texts[k]);
    const same = k > 0 && sentence.texts[k] === sentence.texts[0];
    const translation = same
      ? element("span", {}, `as ${state.data.systems[0]}`)
      : marked(sentence.texts[0], sentence.texts[k]);
    return tableRow(k === 0 ? "chosen" : "", rowHeading(system),
      cell(shown(sentence.expected[k])), ...(quality ? [cell(shown(quality[k]))] : []),
      cell(at < 0 ? "-" : `${detail.counts[at]}×`), cell(at < 0 ? "-" : rows.indexOf(at) + 1),
      cell(translation, "text"));
  });
  return table(header, bodyOf(lines), "Choices");
}

// The columns of the pool: title, value of hypothesis i, how it is shown. All but the rank sort downwards.
function poolColumns(sentence, detail, rows) {
  const rank = new Map(rows.map((i, place) => [i, place + 1]));
  const columns = [["rank", (i) => -rank.get(i), (i) => rank.get(i)],
    ["drawn", (i) => detail.counts[i], (i) => `${detail.counts[i]}×`],
    ["expected utility", (i) => detail.expected[i], (i) => shown(detail.expected[i])]];
  const other = detail.recorded && detail.recorded.some((value, i) => Math.abs(value - detail.expected[i]) > 0.01);
  if (other) // another utility, other weights, or the estimates of a pruned decision
    columns.push(["decided by", (i) => detail.recorded[i], (i) => detail.recorded[i].toFixed(3)]);
  columns.push(["log-prob", (i) => detail.logProb[i], (i) => detail.logProb[i].toFixed(1)]);
  if (detail.quality) columns.push(["to reference", (i) => detail.quality[i], (i) => shown(detail.quality[i])]);
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
  const cells = columns.map(([title, , show]) => {
    const made = cell(show(i));
    if (title === "expected utility") {
      const span = state.data.high - Math.min(0, state.data.low) || 1;
      made.className = "bar";
      made.style.setProperty("--share", `${(100 * (detail.expected[i] - Math.min(0, state.data.low))) / span}%`);
    }
    return made;
  });
  const by = state.data.systems.filter((_, k) => sentence.texts[k] === detail.hypotheses[i]);
  const line = cell(marked(sentence.texts[0], detail.hypotheses[i]), "text");
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
  const { sentences, systems, signature, settings, decidedBy } = state.data;
  const set = Object.entries(settings).filter(([, value]) => value !== "" && typeof value !== "object");
  const parts = [`${sentences.length} sentences`, `utility: ${signature}`];
  if (decidedBy && decidedBy !== signature) parts.push(`decided by: ${decidedBy}`);
  if (set.length) parts.push(`${systems[0]}: ${set.map(([name, value]) => `${name} ${value}`).join(", ")}`);
  $("about").textContent = parts.join(" · ");
}

function summary() {
  const { sentences, systems } = state.data;
  const quality = sentences[0].quality;
  const header = [heading("system", "system"), heading("mean expected utility"),
    ...(quality ? [heading("mean utility to reference")] : []), heading(`same as ${systems[0]}`)];
  const rows = systems.map((system, k) => tableRow("", rowHeading(system),
    cell(shown(mean(sentences.map((s) => s.expected[k])))),
    ...(quality ? [cell(shown(mean(sentences.map((s) => s.quality[k]))))] : []),
    cell(sentences.filter((s) => s.texts[k] === s.texts[0]).length)));
  $("systems").append(element("thead", {}, tableRow("", ...header)), bodyOf(rows));
}

function listen() {
  let waiting = 0;
  $("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 120); });
  for (const id of ["sort", "changed", "deep"]) $(id).addEventListener("change", refresh);
  $("more").addEventListener("click", () => { listMore(); markCurrent(); });
  $("list").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) show(Number(button.dataset.position));
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
  window.addEventListener("resize", () => document.querySelectorAll("canvas").forEach((canvas) => canvas.draw()));
  window.addEventListener("hashchange", () => { if (linked() >= 0) show(linked()); });
  $("theme").addEventListener("click", changeTheme);
}

function changeTheme() {
  const names = ["automatic", "light", "dark"];
  const next = names[(names.indexOf(document.documentElement.dataset.theme || "automatic") + 1) % 3];
  if (next === "automatic") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  $("theme").textContent = `Theme: ${next}`;
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
  state.sort = sortings();
  $("sort").append(...state.sort.map(([title]) => element("option", {}, title)));
  $("changed").parentElement.hidden = state.data.systems.length < 2;
  about();
  summary();
  listen();
  await refresh();
  await show(Math.max(linked(), 0));
  document.documentElement.dataset.ready = "true";
}

start();
