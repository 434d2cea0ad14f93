// The panel of the chosen example: instruction, pictures, facts, reply.

const NAMES = { hit: "hit", miss: "miss", no_answer: "no answer", run_error: "run error", absent: "absent" };
const GLYPHS = { hit: "✓", miss: "✕", no_answer: "–", run_error: "!", absent: "○" };
const RULES = {
  point_in_bbox: "a point in the box, edges included",
  point_in_polygon: "a point strictly inside the polygon",
  coverage_precision: "a box that covers the target",
  refusal: "a point with two negative coordinates",
};

/** A number with at most two decimals; below 0.01 with two significant digits, so that it is not shown as 0. */
function number(value) {
  return String(value !== 0 && Math.abs(value) < 0.01 ? Number(value.toPrecision(2)) : Math.round(value * 100) / 100);
}

/** A share (0..1) with at most six decimals, so that one just below its threshold is not shown as the threshold. */
function share(value) {
  return String(Math.round(value * 1e6) / 1e6);
}

function numbers(values) {
  return values.map(number).join(", ");
}

function badge(answer) {
  const name = answer.false_refusal ? "false refusal" : NAMES[answer.outcome];
  return element("span", { class: `badge ${answer.outcome}` },
    element("span", { "aria-hidden": "true" }, GLYPHS[answer.outcome]), ` ${name}`);
}

function swatch(who) {
  const path = who === "target" ? "M-11 -8H11V8H-11Z" : MARKS[who];
  return shape("svg", { class: "swatch", viewBox: "-15 -15 30 30", "aria-hidden": "true" },
    shape("path", { class: `stroke ${who}`, d: path }));
}

function fact(name, mark, ...values) {
  return [element("dt", {}, mark, name), element("dd", {}, ...values)];
}

function soft(text) {
  return element("span", { class: "soft" }, ` ${text}`);
}

function targetText(example) {
  const { target, rule } = example;
  if (!target.length) return ["none: the right answer is a refusal"];
  if (rule === "point_in_polygon") return [`polygon of ${target.length / 2} corners`, soft(numbers(target))];
  const [x0, y0, x1, y1] = target;
  return [`${number(x1 - x0)} × ${number(y1 - y0)} px`, soft(`box ${numbers(target)}`)];
}

function answerText(example, answer) {
  const found = [badge(answer)];
  const points = answer.points || [];
  const say = (text) => found.push(" · ", text);
  if (answer.distance !== undefined) say(`${number(answer.distance)} px from the target`);
  else if (example.gap !== undefined && answer === example.answers[0]) say(`an edge ${number(example.gap)} px off`);
  if (answer.coverage !== undefined && example.thresholds) {
    const [coverage, precision] = example.thresholds;
    say(`coverage ${share(answer.coverage)} (needs ${coverage})`);
    say(`precision ${share(answer.precision)} (needs ${precision})`);
  }
  if (answer.reason) say(answer.reason);
  if (answer.error) say(answer.error);
  const [width, height] = example.image_size;
  const isOutside = ([x, y]) => x < 0 || y < 0 || x > width || y > height;
  if (placed(answer).some(isOutside)) say("outside the screenshot, drawn at its edge");
  const given = points.map((point) => `(${numbers(point)})`);
  if (answer.more) given.push(`and ${answer.more} more`);
  if (answer.bbox) given.push(`box ${numbers(answer.bbox)}`);
  if (answer.line) given.push(`· line ${answer.line} of the file`);
  found.push(soft(given.join(" ")));
  return found;
}

function pictureOf(index, box) {
  if (index === undefined) return null;
  const held = document.getElementById(`page-picture-${index}`);
  const href = held ? `data:image/webp;base64,${held.textContent}` : DATA.pictures[index];
  return { box, href: href || "data:," };
}

function views(example) {
  const whole = [0, 0, ...example.image_size];
  const shot = pictureOf(example.shot, whole);
  const view = (drawing, text) => element("figure", { class: "view" }, drawing, element("figcaption", {}, text));
  const figures = [view(screen(example, shot, whole, false),
    `${shot ? "whole screen" : "no screenshot"}, ${example.image_size.join(" × ")} px`)];
  if (example.cut) {
    const cut = example.crop === undefined ? shot : pictureOf(example.crop, example.cut);
    figures.push(view(screen(example, cut, example.cut, true),
      `around the target, ${example.cut[2]} × ${example.cut[3]} px`));
  }
  return element("div", { class: example.cut ? "views two" : "views" }, ...figures);
}

/**
 * Show an example in the panel. `place` is its position in the list: {text, previous, next}, where the last two say
 * whether there is such an example. `step(by)` shows the previous (-1) or the next (1) one.
 */
function showDetail(panel, example, place, step) {
  const button = (text, by, possible) => {
    const made = element("button", { type: "button", class: "step", "data-step": by }, text);
    made.disabled = !possible;
    made.addEventListener("click", () => step(by));
    return made;
  };
  const head = element("header", { class: "detail-head" },
    ...example.answers.map((answer, index) => element("span", { class: "verdict" },
      example.answers.length > 1 ? element("span", { class: `who who-${"ab"[index]}` }, "AB"[index]) : null,
      " ", badge(answer))),
    element("h3", {}, element("bdi", {}, example.id)),
    element("div", { class: "steps" },
      element("span", { class: "place" }, place.text),
      button("← Previous", -1, place.previous), button("Next →", 1, place.next)));
  const facts = element("dl", { class: "facts" }, ...fact("target", swatch("target"), ...targetText(example)));
  example.answers.forEach((answer, index) => {
    const name = example.answers.length > 1 ? `answer ${"AB"[index]}` : "answer";
    facts.append(...fact(name, swatch("ab"[index]), ...answerText(example, answer)));
  });
  facts.append(...fact("a hit is", "", RULES[example.rule]));
  const axes = new Map();
  for (const [axis, label] of example.labels) axes.set(axis, [...(axes.get(axis) || []), label]);
  for (const [axis, labels] of axes) facts.append(...fact(axis, "", labels.join(", ")));
  const replies = example.answers.filter((answer) => answer.reply).map((answer) =>
    element("details", { class: "reply" },
      element("summary", {}, example.answers.length > 1 ? `Reply ${"AB"[example.answers.indexOf(answer)]}` : "Reply"),
      element("pre", { tabindex: "0" }, answer.reply)));
  panel.replaceChildren(head,
    element("p", { class: "asked", dir: "auto" }, example.instruction || "(no instruction)"),
    views(example), facts, ...replies,
    element("p", { class: "keys note" },
      element("kbd", {}, "←"), " ", element("kbd", {}, "→"), " previous and next"));
}
