// The list of examples with its filters and its order, keys, links, and the tables.

const DATA = JSON.parse(document.getElementById("page-data").textContent);
const EXAMPLES = DATA.examples;
const INDEX = new Map(EXAMPLES.map((example, index) => [example.id, index]));
const list = document.getElementById("page-list");
const panel = document.getElementById("page-detail");
const status = document.getElementById("page-status");
const form = document.getElementById("page-filters");
const rows = [...list.children];
const texts = EXAMPLES.map((example) => `${example.id}\n${example.instruction}`.toLowerCase());
let shown = [];
let current = -1;

const isHit = (answer) => answer.outcome === "hit";
const area = ({ target }) => {
  const [x0, y0, x1, y1] = bounds(target);
  return target.length ? (x1 - x0) * (y1 - y0) : Infinity;
};
const KINDS = {
  wrong: ({ answers }) => !answers.every(isHit),
  false_refusal: ({ answers }) => answers.some((answer) => answer.false_refusal),
  missing: ({ answers }) => answers.some((answer) => !["hit", "miss"].includes(answer.outcome)),
  gained: ({ answers }) => answers.length > 1 && !isHit(answers[0]) && isHit(answers[1]),
  lost: ({ answers }) => answers.length > 1 && isHit(answers[0]) && !isHit(answers[1]),
};
const UNFILTERED = { search: "", outcome: "", rule: "", cell: "", benchmark: "", order: "near" };
const PRESETS = {
  near: { order: "near" },
  far: { order: "far" },
  false_refusal: { outcome: "false_refusal" },
  point_in_polygon: { rule: "point_in_polygon" },
  missing: { outcome: "missing" },
  gained: { outcome: "gained" },
  lost: { outcome: "lost" },
};
const ORDERS = {
  near: (a, b) => a.rank - b.rank || (a.gap ?? 0) - (b.gap ?? 0),
  far: (a, b) => a.rank - b.rank || (b.gap ?? 0) - (a.gap ?? 0),
  small: (a, b) => area(a) - area(b) || 0,
  file: () => 0,
};

function matches(example, wanted) {
  const hasOutcome = ({ answers }) => answers.some((answer) => answer.outcome === wanted.outcome);
  return (!wanted.outcome || (KINDS[wanted.outcome] || hasOutcome)(example))
    && (!wanted.rule || example.rule === wanted.rule)
    && (!wanted.benchmark || example.benchmark === wanted.benchmark)
    && (!wanted.cell || example.labels.some(([axis, label]) => `${axis}=${label}` === wanted.cell));
}

function filter() {
  const wanted = Object.fromEntries(new FormData(form));
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  const order = ORDERS[wanted.order];
  shown = EXAMPLES.map((_, index) => index)
    .filter((index) => matches(EXAMPLES[index], wanted) && words.every((word) => texts[index].includes(word)))
    .sort((a, b) => order(EXAMPLES[a], EXAMPLES[b]) || a - b);
  const kept = new Set(shown);
  rows.forEach((row, index) => { row.hidden = !kept.has(index); });
  list.append(...shown.map((index) => rows[index]));
  for (const button of form.querySelectorAll("[data-preset]")) {
    const preset = { ...UNFILTERED, ...PRESETS[button.dataset.preset] };
    button.setAttribute("aria-pressed", Object.entries(wanted).every(([key, value]) => preset[key] === value));
  }
  status.textContent = shown.length === EXAMPLES.length
    ? `${EXAMPLES.length} examples` : `${shown.length} of ${EXAMPLES.length} examples`;
  list.scrollTop = 0;
}

function show(index, { link = true } = {}) {
  if (current >= 0) rows[current].firstElementChild.removeAttribute("aria-current");
  current = index;
  const at = shown.indexOf(index);
  const anchor = rows[index].firstElementChild;
  anchor.setAttribute("aria-current", "true");
  showDetail(panel, EXAMPLES[index],
    { text: `${at + 1} of ${shown.length}`, previous: at > 0, next: at < shown.length - 1 }, step);
  const { offsetTop, offsetHeight } = rows[index];
  if (offsetTop < list.scrollTop || offsetTop + offsetHeight > list.scrollTop + list.clientHeight) {
    list.scrollTop = offsetTop - list.clientHeight / 3;
  }
  if (link) history.replaceState(null, "", anchor.hash);
}

/** Scroll to the chosen example where it is not in view. */
function reveal() {
  const { top } = panel.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) panel.scrollIntoView();
}

function showFirst() {
  if (shown.length) show(shown[0], { link: false });
  else panel.replaceChildren(element("p", { class: "note" }, "No example matches these filters."));
}

/** Reset all filters, then set these: name of a field -> value. */
function only(wanted) {
  form.reset();
  for (const [name, value] of Object.entries(wanted)) form.elements[name].value = value;
  filter();
  showFirst();
}

/** Show the next (1) or the previous (-1) example. The focus stays in the list, on the new line, or on the button. */
function step(by) {
  const inList = list.contains(document.activeElement), inPanel = panel.contains(document.activeElement);
  const next = shown[shown.indexOf(current) + by];
  if (next === undefined) return;
  show(next);
  const { id, answers } = EXAMPLES[next];
  status.textContent = `${shown.indexOf(next) + 1} of ${shown.length}: ${id}, ${NAMES[answers[0].outcome]}`;
  if (inList) rows[next].firstElementChild.focus({ preventScroll: true });
  if (inPanel) (panel.querySelector(`[data-step="${by}"]:enabled`) || panel).focus({ preventScroll: true });
}

/** Show the example that the address names, and reset the filters if they hide it. False if it names no example. */
function follow() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* not a link of this page */ }
  const index = INDEX.get(id);
  if (index === undefined) return false;
  if (!shown.includes(index)) { form.reset(); filter(); }
  show(index, { link: false });
  reveal();
  return true;
}

list.addEventListener("click", (event) => {
  const row = event.target.closest("li");
  if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(Number(row.dataset.index));
  const stacked = panel.getBoundingClientRect().top >= list.getBoundingClientRect().bottom;
  if (stacked) reveal();
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, pre, .scroll")) return;
  const inList = list.contains(event.target);
  const by = { ArrowLeft: -1, ArrowRight: 1, ...(inList ? { ArrowUp: -1, ArrowDown: 1, k: -1, j: 1 } : {}) }[event.key];
  if (!by) return;
  event.preventDefault();
  step(by);
  if (!inList) reveal();
});

form.addEventListener("input", () => { filter(); showFirst(); });
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-preset], .reset");
  if (button) only(PRESETS[button.dataset.preset] || {});
});

for (const button of form.querySelectorAll("[data-preset]")) {
  const { outcome, rule } = PRESETS[button.dataset.preset];
  if (!outcome && !rule) continue;
  const count = EXAMPLES.filter((example) => matches(example, { outcome, rule })).length;
  button.querySelector(".count").textContent = count;
  button.disabled = !count;
}

for (const select of document.querySelectorAll("select.axis")) {
  select.addEventListener("change", () => {
    for (const table of document.querySelectorAll(`.axis-table[data-section="${select.dataset.section}"]`)) {
      table.hidden = table.dataset.table !== select.value;
    }
  });
}

document.querySelector("main").addEventListener("click", (event) => {
  const closest = (selector) => event.target.closest(selector);
  const cell = closest("button.cell"), header = closest("[data-sort]"), mark = closest(".cloud a");
  if (cell) {
    only({ cell: `${cell.dataset.axis}=${cell.dataset.label}`, benchmark: cell.dataset.benchmark });
    document.getElementById("page-examples").scrollIntoView();
  } else if (header) sort(header);
  else if (mark && INDEX.has(mark.dataset.id)) {
    event.preventDefault();
    history.replaceState(null, "", mark.getAttribute("href"));
    follow();
  }
});

function sort(header) {
  const column = Number(header.dataset.sort), cell = header.parentElement, body = header.closest("table").tBodies[0];
  const before = cell.getAttribute("aria-sort");
  // The first click on a column of numbers puts the largest one first.
  const descending = column ? before !== "descending" : before === "ascending";
  for (const other of cell.parentElement.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
  cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const value = (row) => column ? Number(row.cells[column].dataset.value) : Number(row.dataset.order);
  const sign = descending ? -1 : 1;
  const compare = (a, b) => (value(a) - value(b)) * sign || a.dataset.order - b.dataset.order;
  body.append(...[...body.rows].sort(compare));
}

addEventListener("hashchange", follow);
addEventListener("beforeprint", () => {
  for (const receipt of document.querySelectorAll(".receipt")) receipt.open = true;
});
// The pictures come after this script in the page, so that the first drawing may lack its picture: draw it again.
addEventListener("DOMContentLoaded", () => { if (current >= 0) show(current, { link: false }); });
filter();
if (!follow()) showFirst();
