// Tables as text: written for a download, and read back.
function quoted(text) {
  return /[",;\r\n\t]|^\s|\s$/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csvText(rows) {
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function download(name, text, type) {
  // The mark at the start tells spreadsheets that this is UTF-8.
  const blob = new Blob([(type === "text/csv" ? "\ufeff" : "") + text], { type: type + ";charset=utf-8" });
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Rows of a CSV text, cells as text; a spreadsheet may have put semicolons or tabs for the commas.
function readCsv(text) {
  const whole = text.replace(/^\ufeff/, "");
  const head = whole.split(/\r?\n/, 1)[0];
  const between = [",", ";", "\t"].reduce((best, sign) => (head.split(sign).length > head.split(best).length ? sign : best));
  const rows = [];
  let row = [], cell = "", inside = false, at = 0;
  const end = () => {
    row.push(cell);
    cell = "";
  };
  for (; at < whole.length; at++) {
    const sign = whole[at];
    if (inside) {
      if (sign !== '"') cell += sign;
      else if (whole[at + 1] === '"') cell += whole[++at];
      else inside = false;
    } else if (sign === '"' && cell === "") inside = true;
    else if (sign === between) end();
    else if (sign === "\n" || sign === "\r") {
      if (sign === "\r" && whole[at + 1] === "\n") at++;
      end();
      rows.push(row);
      row = [];
    } else cell += sign;
  }
  if (cell !== "" || row.length) {
    end();
    rows.push(row);
  }
  return rows.filter((one) => one.length > 1 || one[0] !== "");
}
