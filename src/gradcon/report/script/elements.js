// Elements of the page, and numbers as text.  Text always enters the page as text and never as markup, because the
// names of files and scenes may hold anything.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = ["svg", "g", "path", "line", "circle", "rect", "text", "title", "polyline"];

// Make an element and append it to `parent`.
function make(name, attributes = {}, parent = null, text = null) {
  const element = SVG_NAMES.includes(name) ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

// ---- Numbers as text ----

function percent(share, digits = 0) {
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

// A share in whole percent; a small share must not read as zero.
function wholePercent(share) {
  return share > 0 && share < 0.005 ? "below 1\u00a0%" : percent(share);
}

function short(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 1e-3 ? value.toExponential(1) : String(+value.toPrecision(3));
}

function fixed(value, digits) {
  return Number.isNaN(value) ? "unknown" : value.toFixed(digits).replace("-", "−");
}

// The decimals that a value deserves if it is known in steps of `unit`.
function decimals(unit) {
  return clamp(Math.round(-Math.log10(unit || 1e-4)), 0, 6);
}

// The letter of a result, if there are several.
function title(result) {
  return result.letter ? `${result.letter}: ` : "";
}

function statistics(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return "unknown everywhere";
  const stride = Math.ceil(values.length / 20000); // enough for a median
  const some = values.filter((value, i) => i % stride === 0 && !Number.isNaN(value)).sort();
  const median = some.length ? `, median ${short(some[some.length >> 1])}` : "";
  return `from ${short(low)} to ${short(high)}${median}`;
}

// ---- Text for screen readers ----

let speaking = 0;

// Speak after a pause, so that a moving pointer does not interrupt every sentence.
function speak(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => ($("#spoken").textContent = text), 500);
}
