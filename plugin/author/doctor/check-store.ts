// plugin/author/doctor/check-store.ts: checks that the data of the author's site on this machine are intact.
import { SqliteStore } from "../../store/sqlite.js";
import { typed } from "../invocation.js";
import type { Machine } from "../machine.js";
import { loadSite } from "../site.js";
import { siteStore } from "../site-store.js";
import { type Finding, fix, ok } from "./check.js";

const MAX_NAMED = 5;

/** Checks nothing if the data are not in a folder of this machine. @throws TwtxtError `no-settings`; `store-failed` */
export async function* checkStore(settings: string | undefined, machine: Machine): AsyncGenerator<Finding> {
  const site = await loadSite(machine, settings);
  if (site.settings.host === "netlify") return;
  const { store, place } = await siteStore(site, { command: "doctor", store: undefined }, machine);
  if (!(store instanceof SqliteStore) || (await store.list("", { limit: 1 })).length === 0) return;
  const damage = await store.check();
  if (damage.length === 0) yield ok(`The data in ${place} is intact.`);
  else {
    const named = damage.slice(0, MAX_NAMED).join("; ");
    yield fix(
      `The data in ${place} is damaged: ${named}.`,
      `Stop serve, and restore a backup: ${typed("restore FILE --force")}`,
    );
  }
}
