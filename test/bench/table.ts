// test/bench/table.ts: text tables of results.

/** One part of the report. */
export interface Part {
  title: string;
  /** The first row names the columns. */
  rows: string[][];
  aims: Aim[];
  /** One line about the measurement. */
  note?: string;
  /** The same as numbers, for `--json`. */
  figures: unknown;
}

/** An aim and the result. A missed aim is not a failure, because other load of the machine may be the cause. */
export interface Aim {
  what: string;
  aim: string;
  reached: string;
}

export function formatPart({ title, rows, aims, note }: Part): string {
  const heading = `${title}\n${"=".repeat(title.length)}`;
  const lines = aims.map(({ what, aim, reached }) => `${what}: ${reached} (aim: ${aim})`);
  return [heading, formatTable(rows), ...lines, ...(note === undefined ? [] : [note]), ""].join("\n");
}

/** The same in Markdown. */
export function formatMarkdown({ title, rows, aims, note }: Part): string {
  const [header = [], ...others] = rows;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [header, header.map((_, column) => (column === 0 ? "---" : "--:")), ...others].map(line);
  const list = aims.map(({ what, aim, reached }) => `- ${what}: **${reached}** (aim: ${aim})`);
  const blocks = [[`## ${title}`], table, list, note === undefined ? [] : [note]];
  return blocks.flatMap((block) => (block.length > 0 ? [block.join("\n")] : [])).join("\n\n");
}

/** Pads each column to its widest cell: the first one to the left, numbers to the right. */
function formatTable(rows: string[][]): string {
  const [header = []] = rows;
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ");
  const [first = "", ...others] = rows.map(line);
  return [first, "-".repeat(first.length), ...others].join("\n");
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? at(sorted, middle) : (at(sorted, middle - 1) + at(sorted, middle)) / 2;
}

/** The value that `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return at(sorted, Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1));
}

/** `12.3 ms`, `4.56 s`. */
export function time(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  return `${milliseconds.toFixed(milliseconds < 1 ? 3 : milliseconds < 100 ? 1 : 0)} ms`;
}

/** The minimum and maximum of a series, as `1.20 s to 1.45 s`. */
export function range(values: readonly number[]): string {
  return `${time(Math.min(...values))} to ${time(Math.max(...values))}`;
}

/** `1.07 x` of a baseline. */
export function ratio(value: number, baseline: number): string {
  return `${(value / baseline).toFixed(2)} x`;
}

/** `+6.8 %`. */
export function added(share: number): string {
  return `${share < 0 ? "" : "+"}${(share * 100).toFixed(1)} %`;
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? Number.NaN;
}
