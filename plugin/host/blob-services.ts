// plugin/host/blob-services.ts: the blobs of a site, wired: they need no more than a store, a clock and perhaps a CDN.
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type Blobs, blobs } from "../blobs/serve/blobs.js";
import { answering } from "../http/respond.js";
import type { ServiceOptions } from "./service-options.js";

type Options = Pick<ServiceOptions, "settings" | "store" | "authority" | "now" | "log" | "purge">;

/** @returns blobs without owners for a site that has none */
export function blobServices({ settings, store, authority, now, log, purge }: Options): Blobs {
  const { owners = [], count = 0, bytes = 0, maxBytes = 0 } = settings.blobs ?? {};
  const { own, shared, ...others } = blobs({
    store,
    now,
    random: randomBytes,
    sleep: setTimeout,
    authority,
    owners: new Set(owners),
    limits: { count, bytes, maxBytes },
    urls: { api: settings.urls.blobs, shared: settings.urls.shared },
    purge,
    log,
  });
  return { own: answering(own, log), shared: answering(shared, log), ...others };
}
