// plugin/client/dates.ts: how pages of the client write dates.

/** In the time zone of this machine, such as "22 Nov 2026, 20:45". */
export const DATES = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Such as "20:45". */
export const TIMES = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
