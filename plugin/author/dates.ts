// plugin/author/dates.ts: how messages and pages on the author's machine write dates.

/** In the time zone of this machine, such as "22 Nov 2026, 20:45". */
export const DATES = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
