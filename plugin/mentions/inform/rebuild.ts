// plugin/mentions/inform/rebuild.ts: asks for a new build of the site, seldom, since a build costs.

import { createHash } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../../clock.js";
import type { Log } from "../../http/respond.js";
import { readJson, writeJson } from "../../store/json.js";
import type { Condition, Store } from "../../store/store.js";
import type { ListMentions } from "../mention.js";
import { type HookFetch, postHook } from "./hook.js";
import { publicMention } from "./list-json.js";

const KEY = "inform/rebuild";
const DAY = 24 * 3600_000;
/** However a billing month lies, no more than its share falls into it. */
const MONTH = 31 * DAY;
/** Changes of what is older than the newest so many wait for the next build. */
const WATCHED = 10_000;

const Rebuilds = v.object({
  /** What was shown when the site was last built, as a digest. */
  shown: v.string(),
  /** When builds were asked for, milliseconds since 1970, oldest first. */
  asked: v.array(v.number()),
});

/**
 * Asks for a build where what is shown has changed since the last one, at most `perDay` times in 24 hours and `perMonth`
 * times in 31 days. To be called every hour: all that has changed until then is one build.
 *
 * The slot is taken before the hook is called, and counts also where the hook fails. A run that ends in between is not
 * repeated: its change comes with the next one.
 *
 * @throws TwtxtError `store-failed`; a hook that fails is logged, and tried again with the next slot
 */
export async function rebuildIfChanged(parts: RebuildParts): Promise<void> {
  const { list, store, now, url, fetch, perDay, perMonth, log } = parts;
  const stored = await readJson(store, KEY, Rebuilds);
  if (!stored) return noteBuild({ list, store });
  const asked = stored.value.asked.filter((at) => at > now() - MONTH);
  const today = asked.filter((at) => at > now() - DAY);
  if (today.length >= perDay || asked.length >= perMonth) return;
  const shown = await digestOfShown(list);
  if (shown === stored.value.shown) return;

  const taken = { shown, asked: [...asked, now()] };
  const etag = await writeJson(store, KEY, taken, { etag: stored.etag });
  if (etag === null) return;
  const hook = { variable: "TWTXT_BUILD_HOOK_URL", url, fetch } as const;
  const failure = await postHook(hook, { "content-type": "application/json" }, "{}").then(
    () => null,
    (error: Error) => error.message,
  );
  if (failure === null) {
    log(
      `Started a rebuild of the site, number ${taken.asked.length} of at most ${perMonth} in 31 days. On Netlify it costs 15 of a free team's 300 credits a month.`,
    );
    return;
  }
  log(`The rebuild could not be started. ${failure}`);
  await writeJson(store, KEY, { ...taken, shown: stored.value.shown }, { etag });
}

export interface RebuildParts {
  list: ListMentions;
  store: Store;
  now: Clock;
  /** `TWTXT_BUILD_HOOK_URL`. */
  url: string;
  fetch: HookFetch;
  perDay: number;
  perMonth: number;
  log: Log;
}

/**
 * Notes that the site was built just now, by whomever, so that what it shows is no reason for another build. The first
 * run does so too, since a build hook comes into force by a deploy.
 */
export async function noteBuild({ list, store }: Pick<RebuildParts, "list" | "store">): Promise<void> {
  const stored = await readJson(store, KEY, Rebuilds);
  const condition: Condition = stored ? { etag: stored.etag } : { isNew: true };
  const asked = stored?.value.asked ?? [];
  // Where the condition fails, another run has just noted it or asked for a build.
  await writeJson(store, KEY, { shown: await digestOfShown(list), asked }, condition);
}

async function digestOfShown(list: ListMentions): Promise<string> {
  const { mentions } = await list({ state: "shown", limit: WATCHED });
  return createHash("sha256")
    .update(JSON.stringify(mentions.map(publicMention)))
    .digest("hex");
}
