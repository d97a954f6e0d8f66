// plugin/author/amounts.ts: counts, sizes and dates in words.

/** @example counted(1, "twt") // "1 twt" */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

/** @example listed([[1, "sent"], [0, "failed"]]) // "1 sent" */
export function listed(counts: readonly (readonly [count: number, what: string])[]): string {
  return counts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : [])).join(", ");
}

const UNITS = ["KiB", "MiB", "GiB"];

/** @example sizeText(1) // "1 byte" */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = "bytes";
  for (const larger of UNITS) {
    if (size < 1024) break;
    size /= 1024;
    unit = larger;
  }
  return unit === "bytes" ? counted(bytes, "byte") : `${size.toFixed(1)} ${unit}`;
}

/** In the time zone of this machine, such as "22 Nov 2026, 20:45". */
export const DATES = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
