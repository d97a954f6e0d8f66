// plugin/mentions/inform/rebuild.ts: starts rebuilds of the site, within limits because builds cost money.
import { hash } from "node:crypto";
import * as v from "valibot";
import { type Clock, DAY } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { ifUnchanged, readJson, writeJson } from "../../store/json.js";
import type { Store } from "../../store/store.js";
import type { ListMentions } from "../mention.js";
import { publicMention } from "./list-json.js";
import { postHook } from "./webhook.js";

const KEY = "inform/rebuild";
/** The longest month, so that no billing month gets more than its limit. */
const MONTH = 31 * DAY;
/** Only changes among this many newest mentions start a build. */
const WATCHED = 10_000;

const Rebuilds = v.object({
  shown: v.string(),
  /** Times of requested builds, milliseconds since 1970, oldest first. */
  asked: v.array(v.number()),
});

/**
 * Starts a build if the shown mentions changed since the last one, at most `perDay` times in 24 hours and `perMonth` times
 * in 31 days. Call it hourly, so that the changes of an hour share a build.
 *
 * A build is counted before the hook is called, even if the hook fails. If the process ends in between, the change waits
 * for the next build.
 *
 * @throws TwtxtError `store-failed`; a failing hook is logged and retried at the next build
 */
export async function rebuildIfChanged(parts: RebuildParts): Promise<void> {
  const { list, store, now, url, perDay, perMonth, isMetered, log } = parts;
  const stored = await readJson(store, KEY, Rebuilds);
  if (!stored) return noteBuild({ list, store });
  const asked = stored.value.asked.filter((at) => at > now() - MONTH);
  const today = asked.filter((at) => at > now() - DAY);
  if (today.length >= perDay || asked.length >= perMonth) return;
  const shown = await digestOfShown(list);
  if (shown === stored.value.shown) return;

  const counted = { shown, asked: [...asked, now()] };
  const etag = await writeJson(store, KEY, counted, ifUnchanged(stored));
  if (etag === null) return;
  const hook = { variable: "TWTXT_BUILD_HOOK_URL", url } as const;
  const failure = await postHook(hook, { "content-type": "application/json" }, "{}").then(
    () => null,
    (error: Error) => error.message,
  );
  if (failure === null) {
    const cost = isMetered ? " Each costs 15 of the 300 credits that a free team has per month." : "";
    return log(`Started rebuild ${counted.asked.length} of at most ${perMonth} in 31 days.${cost}`);
  }
  log(`The rebuild could not be started. ${failure}`, { level: "error" });
  await writeJson(store, KEY, { ...counted, shown: stored.value.shown }, { etag });
}

interface RebuildParts {
  list: ListMentions;
  store: Store;
  now: Clock;
  /** `TWTXT_BUILD_HOOK_URL`. */
  url: string;
  perDay: number;
  perMonth: number;
  /** Whether the host charges for a build, as Netlify does. */
  isMetered: boolean;
  log: Log;
}

/**
 * Records that the site was just built, so that the mentions it shows do not start another build. The first run does so
 * too, since setting a build hook takes a deploy.
 */
export async function noteBuild({ list, store }: Pick<RebuildParts, "list" | "store">): Promise<void> {
  const stored = await readJson(store, KEY, Rebuilds);
  const asked = stored?.value.asked ?? [];
  // If the condition fails, another run just recorded a build or started one.
  await writeJson(store, KEY, { shown: await digestOfShown(list), asked }, ifUnchanged(stored));
}

async function digestOfShown(list: ListMentions): Promise<string> {
  const { mentions } = await list({ state: "shown", limit: WATCHED });
  return hash("sha256", JSON.stringify(mentions.map(publicMention)));
}
