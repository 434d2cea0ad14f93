"use strict";
// The drawing over a screenshot. Texts are set as text nodes and numbers as attributes, so that no markup is parsed.

const SVG = "http://www.w3.org/2000/svg";
const MARKS = {
  a: "M-7 0A7 7 0 1 0 7 0A7 7 0 1 0 -7 0M-11 0H-3M3 0H11M0 -11V-3M0 3V11", // a circle with cross-hairs
  b: "M0 -15L15 0L0 15L-15 0Z", // a diamond, larger than the circle, so that both are visible at one place
};

function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

/** A line with a light rim around it, so that it is visible on any picture. */
function rimmed(name, attributes) {
  return ["rim", "stroke"].map((part) => shape(name, { ...attributes, class: part }));
}

/**
 * The drawing of an example: a picture with the target and all answers over it.
 * `picture` is {href, box} or null; `view` is the part to show as [left, top, width, height]. Boxes and views are in
 * pixels of the screenshot. With `isCut` the view is the cut-out, and marks outside of it are left out.
 */
function screen(example, picture, view, isCut) {
  const [left, top, width, height] = view;
  const [full, tall] = isCut ? [width, height] : example.image_size;
  const inner = shape("svg", {
    width: "100%", height: "100%", viewBox: view.join(" "), preserveAspectRatio: "none",
  });
  if (picture) {
    const [x, y, w, h] = picture.box;
    inner.append(shape("image", { href: picture.href, x, y, width: w, height: h, preserveAspectRatio: "none" }));
  }
  inner.append(outline(example));
  if (!isCut && example.cut) {
    const [x, y, w, h] = example.cut;
    inner.append(shape("g", { class: "cut" }, ...rimmed("rect", { x, y, width: w, height: h })));
  }
  const marks = [];
  example.answers.forEach((answer, index) => {
    const who = "ab"[index];
    if (answer.bbox) inner.append(shape("g", { class: who }, ...rimmed("rect", box(answer.bbox))));
    for (const [x, y] of placed(answer)) {
      const away = answer.outcome === "miss" && example.target.length > 0;
      if (away) inner.append(way(middle(example.target), [x, y], who, example.image_size));
      const across = (x - left) / full, down = (y - top) / tall;
      const off = across < 0 || across > 1 || down < 0 || down > 1;
      if (off && isCut) continue;
      marks.unshift(shape("svg",
        { class: "free", x: `${clamp(across) * 100}%`, y: `${clamp(down) * 100}%` },
        shape("g", { class: off ? `${who} off` : who }, ...rimmed("path", { d: MARKS[who] }))));
    }
  });
  const described = { role: "img", "aria-label": description(example, isCut) };
  const drawing = shape("svg", { width: "100%", height: "100%", ...described }, inner, ...marks);
  const frame = element("div", { class: "screen" }, drawing);
  frame.style.setProperty("--ratio", width / height);
  return frame;
}

function outline(example) {
  const group = shape("g", { class: "target" });
  if (example.rule === "point_in_polygon") group.append(...rimmed("polygon", { points: example.target.join(" ") }));
  else if (example.target.length) group.append(...rimmed("rect", box(example.target)));
  return group;
}

function way([x1, y1], [x2, y2], who, [width, height]) {
  // Coordinates in a file may be of any size: the line ends a few screen sizes away at most.
  const within = (value, limit) => Math.max(-4 * limit, Math.min(value, 5 * limit));
  const line = { x1, y1, x2: within(x2, width), y2: within(y2, height) };
  return shape("g", { class: `${who} way` }, ...rimmed("line", line));
}

function box([x0, y0, x1, y1]) {
  return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
}

/** The smallest box [x0, y0, x1, y1] around a target, which is a box or a ring of corners. */
function bounds(target) {
  const xs = target.filter((_, index) => index % 2 === 0), ys = target.filter((_, index) => index % 2 === 1);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

function middle(target) {
  const [x0, y0, x1, y1] = bounds(target);
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}

/** The points of an answer without refusals: a point that is negative in both coordinates is a refusal. */
function placed(answer) {
  return (answer.points || []).filter(([x, y]) => x >= 0 || y >= 0);
}

function clamp(share) {
  return Math.max(0, Math.min(share, 1));
}

function description(example, isCut) {
  const target = example.target.length ? "the target" : "no target";
  const answers = example.answers.map((answer) => answer.outcome.replace("_", " ")).join(", then ");
  return `${isCut ? "Cut-out" : "Whole screenshot"} with ${target} and the answer: ${answers}`;
}
