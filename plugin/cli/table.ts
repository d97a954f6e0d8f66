// plugin/cli/table.ts: tables on the terminal, and how wide a text is there.

/** From Hangul on, most characters take two columns. */
const FIRST_WIDE = 0x1100;
const TAB = 8;

/**
 * Aligns the columns of a table, two spaces between them.
 *
 * @example tableOf([["a", "x"], ["bcd", "y"]]) // ["a    x", "bcd  y"]
 */
export function tableOf(rows: readonly (readonly string[])[]): string[] {
  return alignedRows(rows).map((row) => row.trimEnd());
}

/**
 * The same, with the last column padded too.
 *
 * @param widest - a wider cell does not widen its column: a stranger may claim a name of 300 characters
 */
export function alignedRows(rows: readonly (readonly string[])[], widest = Number.POSITIVE_INFINITY): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(widest, Math.max(...rows.map((row) => widthOf(row[column] ?? "")))),
  );
  return rows.map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0)).join("  "));
}

/** Fills a text up with spaces. */
export function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** The columns that a text takes, or a few more: combining marks count too. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    width += character === "\t" ? TAB : (character.codePointAt(0) ?? 0) >= FIRST_WIDE ? 2 : 1;
  }
  return width;
}

/** Breaks a text into lines, at its spaces and line breaks. */
export function linesAt(columns: number, text: string): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines = [""];
    for (const word of paragraph.split(" ")) {
      const line = lines.at(-1) ?? "";
      if (line === "") lines[lines.length - 1] = word;
      else if (line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}

/** @example counted(1, "twt") // "1 twt" */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

/** @example listed([[1, "sent"], [0, "failed"]]) // "1 sent" */
export function listed(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : [])).join(", ");
}
