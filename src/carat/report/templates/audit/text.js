// Texts of the table as they are: blank is said, spaces that are easy to miss are seen, differences are marked.
const SIGNS = { "\n": "↵", "\r": "↵", "\t": "→|" };
const HIDDEN = /[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

// The signs of a text, each with how it is shown; null where it is shown as it is.
function signs(text) {
  const all = [...text];
  let first = all.findIndex((sign) => sign.trim() !== "");
  if (first < 0) first = all.length;
  const last = all.findLastIndex((sign) => sign.trim() !== "");
  return all.map((sign, at) => {
    if (sign in SIGNS) return [sign, SIGNS[sign]];
    if (HIDDEN.test(sign)) return [sign, "U+" + sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")];
    const space = sign.trim() === "";
    const odd = at < first || at > last || sign !== " " || all[at - 1] === " " || all[at + 1] === " ";
    return [sign, space && odd ? "·" : null];
  });
}

function blank() {
  return el("i", { class: "blank" }, "(blank)");
}

// A text, its signs from `from` to `to` in a mark of their own where a list of places is given.
function seen(text, marked = null) {
  if (text === null || text === "") return blank();
  const made = el("bdi", { class: "as-is" });
  let run = "", inMark = false, holder = made;
  const flush = () => {
    if (run) holder.append(run);
    run = "";
  };
  signs(text).forEach(([sign, shown], at) => {
    const mark = marked !== null && marked[at];
    if (mark !== inMark) {
      flush();
      inMark = mark;
      holder = mark ? made.appendChild(el("mark")) : made;
    }
    if (shown === null) run += sign;
    else {
      flush();
      holder.append(el("span", { class: "sign", title: nameOf(sign) }, shown));
    }
  });
  flush();
  return made;
}

const nameOf = (sign) => (sign === "\t" ? "tab" : "\r\n".includes(sign) ? "line break" : sign === " " ? "space" : "U+" + sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));

// Which signs of each text have no counterpart in the other. Long texts are compared at their ends only.
const COMPARED = 160;

function differences(before, after) {
  const a = [...before], b = [...after];
  const gone = a.map(() => true), come = b.map(() => true);
  let front = 0;
  while (front < a.length && front < b.length && a[front] === b[front]) gone[front] = come[front++] = false;
  let back = 0;
  while (back < a.length - front && back < b.length - front && a.at(-1 - back) === b.at(-1 - back)) {
    back++;
    gone[a.length - back] = come[b.length - back] = false;
  }
  const n = a.length - front - back, m = b.length - front - back;
  if (n * m && n <= COMPARED && m <= COMPARED) align(a, b, front, n, m, gone, come);
  return [gone, come];
}

// The longest common subsequence of what lies between equal ends.
function align(a, b, front, n, m, gone, come) {
  const length = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      length[i][j] = a[front + i] === b[front + j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  let i = 0, j = 0;
  while (i < n && j < m) {
    if (a[front + i] === b[front + j]) gone[front + i++] = come[front + j++] = false;
    else if (length[i + 1][j] >= length[i][j + 1]) i++;
    else j++;
  }
}

// Two texts that share little are not the same one with a slip in it: marks would only be noise.
function change(before, after) {
  if (after === null) return [el("del", {}, seen(before))];
  let [gone, come] = before && after ? differences(before, after) : [null, null];
  if (gone && gone.filter((one) => !one).length < Math.min(gone.length, come.length) / 2) gone = come = null;
  return [el("del", {}, seen(before, gone)), el("span", {}, " → "), el("ins", {}, seen(after, come))];
}

// A probability that never claims certainty.
function share(value) {
  return value >= 0.995 ? ">99%" : value < 0.005 ? "<1%" : Math.round(100 * value) + "%";
}
