// plugin/host/health.ts: whether this server can answer, for load balancers and uptime monitors.
import type { Clock } from "../clock.js";
import { TwtxtError } from "../errors.js";
import { allowing, type Handler, json } from "../http/respond.js";
import { ROUTES } from "../site/routes.js";
import type { StreamingStore } from "../store/store.js";
import type { ServiceOptions } from "./service-options.js";
import { withTimeout } from "./work.js";

/** How long all requests get the result of one check of the store. */
const FRESH_MS = 1000;
const TIMEOUT_MS = 3000;
const NO_ANSWER = `The store has not answered for ${TIMEOUT_MS / 1000} s.`;
/** Never written: it only matters whether the store answers. */
const KEY = "health";

type Options = Pick<ServiceOptions, "client" | "store" | "now">;

/** Answers 200 while the store can be read and written, else 503. It is checked at most once a second. */
export function healthHandler({ client, store, now }: Options): Handler {
  const version = client.slice(client.indexOf("/") + 1);
  const checkStore = recentCheck(store, now);
  return allowing(ROUTES.health.methods, async () => {
    await withTimeout(checkStore(), TIMEOUT_MS, new TwtxtError("store-failed", NO_ANSWER));
    return json({ status: "ok", version });
  });
}

/** @returns a function that checks the store, or returns the last check while that is recent or pending */
function recentCheck(store: StreamingStore, now: Clock): () => Promise<unknown> {
  let freshUntil = Number.NEGATIVE_INFINITY;
  let check: Promise<unknown> = Promise.resolve();
  return () => {
    if (now() < freshUntil) return check;
    freshUntil = Number.POSITIVE_INFINITY;
    const setEnd = () => {
      freshUntil = now() + FRESH_MS;
    };
    check = store
      .get(KEY)
      .then(() => store.checkWritable?.())
      .finally(setEnd);
    return check;
  };
}
