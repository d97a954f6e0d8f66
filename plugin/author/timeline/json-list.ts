// plugin/author/timeline/json-list.ts: adds and removes entries of a JSON file that people also edit, and changes nothing else in it.

const OPENING = /[[{]/;
const CLOSING = /[\]}]/;
const SPACE = /\s/;

/**
 * Adds an entry at the end, in the form of the last one: on one line, or a line for each field.
 *
 * @param json - a list
 * @example addToJsonList('[{ "a": 1 }]', { a: 2 }) // '[{ "a": 1 }, { "a": 2 }]'
 */
export function addToJsonList(json: string, added: Readonly<Record<string, string>>): string {
  const { entries, open, close } = findEntries(json);
  const last = entries.at(-1);
  if (!last) return `${json.slice(0, open + 1)}\n  ${onOneLine(added)}\n${json.slice(close)}`;
  const before = entries.at(-2);
  const gap = before ? json.slice(before.end, last.start) : `,${json.slice(open + 1, last.start) || " "}`;
  const entry = formatLike(json.slice(last.start, last.end), added);
  return json.slice(0, last.end) + gap + entry + json.slice(last.end);
}

/**
 * Removes the entries at these positions, each with the comma and the white space before or after it.
 *
 * @example removeFromJsonList("[1, 2, 3]", [1]) // "[1, 3]"
 */
export function removeFromJsonList(json: string, positions: readonly number[]): string {
  return positions
    .toSorted((a, b) => b - a)
    .reduce((text, at) => {
      const { entries, open, close } = findEntries(text);
      const [entry, before, next] = [entries[at], entries[at - 1], entries[at + 1]];
      if (!entry) return text;
      if (before) return text.slice(0, before.end) + text.slice(entry.end);
      return next ? text.slice(0, entry.start) + text.slice(next.start) : text.slice(0, open + 1) + text.slice(close);
    }, json);
}

/** Finds the entries of a valid JSON list, each from `start` up to, not including, `end`. */
function findEntries(json: string) {
  const open = json.indexOf("[");
  const entries: { start: number; end: number }[] = [];
  let depth = 0;
  let start = -1;
  for (let at = open; ; at = nextToken(json, at)) {
    const mark = json[at] ?? "]";
    const isEnd = depth === 1 && (mark === "," || mark === "]");
    if (isEnd && start >= 0) entries.push({ start, end: json.slice(0, at).trimEnd().length });
    if (isEnd) start = -1;
    else if (depth === 1 && start < 0) start = at;
    if (OPENING.test(mark)) depth += 1;
    if (CLOSING.test(mark)) depth -= 1;
    if (depth === 0) return { entries, open, close: at };
  }
}

/** The position after the token here, and after white space. A string is one token, so brackets in it do not count. */
function nextToken(json: string, at: number): number {
  let next = at + 1;
  if (json[at] === '"') {
    while (next < json.length && json[next] !== '"') next += json[next] === "\\" ? 2 : 1;
    next += 1;
  }
  while (SPACE.test(json[next] ?? "")) next += 1;
  return next;
}

function onOneLine(entry: Readonly<Record<string, string>>): string {
  return `{ ${formatFields(entry).join(", ")} }`;
}

function formatLike(model: string, entry: Readonly<Record<string, string>>): string {
  if (!model.includes("\n")) return model.startsWith("{ ") ? onOneLine(entry) : JSON.stringify(entry);
  const [, newLine = "\n", indent = "  "] = /(\r?\n)([ \t]*)/.exec(model) ?? [];
  const [outdent = ""] = /[ \t]*(?=\S*$)/.exec(model) ?? [];
  const lines = formatFields(entry).map((field) => `${newLine}${indent}${field}`);
  return `{${lines.join(",")}${newLine}${outdent}}`;
}

function formatFields(entry: Readonly<Record<string, string>>): string[] {
  return Object.entries(entry).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
}
