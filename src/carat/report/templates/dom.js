// Elements and numbers; a user's text only ever enters the page as text.
const byId = (id) => document.getElementById(id);
const picture = document.querySelector("svg")?.namespaceURI; // Of a page that has pictures.

function el(name, options = {}, ...children) {
  return fill(document.createElement(name), options, children);
}

function shape(name, options = {}, ...children) {
  return fill(document.createElementNS(picture, name), options, children);
}

function fill(element, options, children) {
  for (const [key, value] of Object.entries(options)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const plain = new Intl.NumberFormat("en");
const count = (value) => plain.format(value);
const many = (value, one, more = one + "s") => count(value) + " " + (value === 1 ? one : more);

// Names of companies can be paragraphs; where they only stand beside a count, their beginning does.
const LONG = 80;
function brief(name) {
  return name.length > LONG ? el("span", { title: name }, name.slice(0, LONG - 1) + "…") : name;
}

function score(value) {
  if (value === null) return "none";
  const size = Math.abs(value);
  const digits = size >= 100 ? 1 : size >= 1 ? 2 : 4;
  return value.toFixed(digits).replace("-", "−");
}

// The probability that some value is wrong; a row that nobody judged has none.
function alarmText(value) {
  return value === null ? "none" : value.toFixed(2);
}

function percentile(value) {
  return value === null ? "none" : value.toFixed(value < 1 ? 2 : 1);
}
