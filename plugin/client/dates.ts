// plugin/client/dates.ts: how pages of the client write dates.

export { DATES } from "../author/amounts.js";

/** Such as "20:45". */
export const TIMES = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
