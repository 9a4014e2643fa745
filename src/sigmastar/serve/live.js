// Asks the model whenever the input has rested for a moment; the newest answer wins.
const $ = (id) => document.getElementById(id);
const input = $("input"), output = $("output"), problem = $("problem"), chips = $("chips");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
const base = `/v1/models/${encodeURIComponent(MODEL.name)}`;
let asked = 0, timer = 0;

function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "click") node.addEventListener("click", value);
    else if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}
async function fetched(path, request) {
  const options = request === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(request) };
  const response = await fetch(base + path, options);
  const found = path.endsWith(".svg") && response.ok ? await response.text() : await response.json();
  if (!response.ok) throw new Error(response.status === 401 ? "This service needs a token: add #token=… to the address." : found.error);
  return found;
}
const percent = (p) => `${(100 * p).toFixed(p < 0.001 ? 3 : 1)} %`;
const colour = (place) => `var(--c${place % 8})`;

const show = {
  predict([row], [anomaly]) {
    const top = Math.max(...row.map((entry) => entry.p));
    const follow = (symbol) => () => { picked = [...symbols(), String(symbol)]; input.value = written(picked); ask(0); input.focus(); };
    output.replaceChildren(...row.map((entry) => make(
      "button",
      { class: entry.end ? "bar end" : "bar", type: "button", ...(entry.end ? { disabled: "" } : { click: follow(entry.symbol) }) },
      make("span", {}, entry.end ? "(end)" : String(entry.symbol)),
      make("i", { style: `width:${(100 * entry.p) / top}%` }),
      make("span", {}, percent(entry.p)),
    )));
    chips.replaceChildren(...symbols().map((symbol, place) => make("span", {
      class: "chip", title: `${anomaly.surprise[place].toFixed(2)} bits`,
      style: `opacity:${Math.max(0.45, 1 - anomaly.surprise[place] / 20)}`,
    }, symbol)));
  },
  tag([words]) {
    output.replaceChildren(...words.map((entry) => make(
      "span", { class: "word", title: [entry.tag, entry.lemma, entry.confidence === undefined ? "" : percent(entry.confidence)].filter(Boolean).join(" · ") },
      entry.word,
      make("b", { style: `opacity:${entry.confidence === undefined ? 1 : Math.max(0.3, entry.confidence)}` }, entry.tag),
      entry.confidence === undefined ? "" : make("i", {}, percent(entry.confidence)),
    )));
  },
  transduce([found]) {
    const total = found.reduce((sum, entry) => sum + Math.exp(entry.log_score - found[0].log_score), 0);
    output.replaceChildren(...found.map((entry, place) => make(
      "div", { class: "bar still" },
      make("span", { class: place ? "" : "best" }, Array.isArray(entry.output) ? entry.output.join(" ") : entry.output),
      make("i", { style: `width:${(100 * Math.exp(entry.log_score - found[0].log_score)) / total}%` }),
      make("span", {}, percent(Math.exp(entry.log_score - found[0].log_score) / total)),
    )));
  },
  frames([stream]) {
    const names = [...new Set(stream.labels)];
    const strip = make("div", { class: "strip" }, ...stream.labels.map((label, place) => make("i", {
      title: `${place + 1}: ${label}, ${percent(stream.confidence[place])}`,
      style: `background:${colour(names.indexOf(label))};opacity:${Math.max(0.25, stream.confidence[place])}`,
    })));
    const legend = make("div", { class: "legend" }, ...names.map((name, place) =>
      make("span", {}, make("i", { style: `background:${colour(place)}` }), `${name} (${stream.labels.filter((l) => l === name).length})`)));
    output.replaceChildren(legend, strip, make("p", { class: "lead" }, `${stream.labels.length} frames`));
  },
};
const pieces = (text) => (MODEL.spaced ? text.split(/\s+/).filter(Boolean) : [...text]);
const written = (list) => list.join(MODEL.spaced ? " " : "");
// What was clicked together stays as it was clicked, as long as nobody types: symbols may have spaces in them.
let picked = [];
const isPicked = () => picked.length > 0 && input.value === written(picked);
const symbols = () => (isPicked() ? picked : pieces(input.value));
// Lines of numbers; a first line without any is the header, columns of text are left out.
function frames(text) {
  const wide = text.includes(";");  // as spreadsheets write where numbers have commas
  const cells = (line) => (wide ? line.split(";").map((cell) => cell.replace(",", ".")) : line.includes(",") ? line.split(",") : line.trim().split(/\s+/));
  const rows = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => cells(line).map((cell) => cell.trim()));
  const number = (cell) => (cell ? Number(cell) : NaN);
  const head = rows.length && rows[0].every((cell) => Number.isNaN(number(cell))) ? rows.shift() : [];
  const columns = head.length && MODEL.columns ? MODEL.columns.map((name) => head.indexOf(name)) : [];
  if (columns.includes(-1)) throw new Error(`The first line names no column ${MODEL.columns[columns.indexOf(-1)]}; the model knows ${MODEL.columns.join(", ")}.`);
  return rows.map((row) => (columns.length ? columns.map((place) => number(row[place])) : row.map(number).filter((value) => !Number.isNaN(value))));
}
async function answer() {
  const turn = ++asked, text = input.value;
  if (!text.trim() && MODEL.ask !== "predict") { output.replaceChildren(); return; }
  // A word to those who wait: the first question to a large model may take a while.
  const patience = setTimeout(() => output.classList.add("waiting"), 300);
  try {
    let found, more;
    if (MODEL.ask === "predict") {
      const given = isPicked() ? picked : text;
      found = await fetched(":predict", { inputs: [given], k: 12 });
      more = await fetched(":anomalies", { inputs: [given] });
    } else if (MODEL.ask === "frames") found = await fetched(":tag", { inputs: [frames(text)] });
    else if (MODEL.ask === "tag") found = await fetched(":tag", { inputs: [text] });
    else found = await fetched(":transduce", { inputs: [text.trim()], k: 5 });
    if (turn !== asked) return;
    problem.textContent = "";
    show[MODEL.ask](found.outputs, more && more.outputs);
  } catch (error) {
    if (turn === asked) problem.textContent = error.message;
  } finally {
    clearTimeout(patience);
    if (turn === asked) output.classList.remove("waiting");
  }
}
function told(value) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 4 }) : String(value);
}
function ask(wait = 150) { clearTimeout(timer); timer = setTimeout(answer, wait); }
input.addEventListener("input", () => ask());
for (const name of ["dragover", "dragleave", "drop"]) {
  input.addEventListener(name, (event) => {
    if (MODEL.ask !== "frames") return;
    event.preventDefault();
    input.classList.toggle("over", name === "dragover");
    if (name === "drop") event.dataTransfer.files[0].text().then((text) => { input.value = text; ask(0); });
  });
}
fetched("").then((model) => {
  $("facts").replaceChildren(...Object.entries(model.facts).map(([name, value]) => make(
    "div", { class: told(value).length > (typeof value === "string" ? 7 : 14) ? "long" : "" },
    make("dt", {}, name.replace(/^n_grams$/, "n-grams").replaceAll("_", " ")), make("dd", {}, told(value)),
  )));
  if (MODEL.ask === "predict") answer();
}).catch((error) => { problem.textContent = error.message; });
if (MODEL.graph) fetched("/graph.svg").then((svg) => { $("graph").innerHTML = svg; }).catch(() => $("graph").parentNode.remove());
