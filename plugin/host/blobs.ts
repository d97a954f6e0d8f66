// plugin/host/blobs.ts: wires the blobs of a site.
import { Blobs } from "../blobs/serve/blobs.js";
import { sleep } from "../store/retry.js";
import type { ServiceOptions } from "./service-options.js";

type Options = Pick<ServiceOptions, "settings" | "store" | "authority" | "now" | "log" | "purge">;

/** @returns blobs without owners for a site that has none */
export function blobServices({ settings, store, authority, now, log, purge }: Options): Blobs {
  const { owners = [], sameOwner = [], count = 0, bytes = 0, maxBytes = 0 } = settings.blobs ?? {};
  return new Blobs({
    store,
    now,
    sleep,
    authority,
    owners: new Set(owners),
    sameOwner,
    limits: { count, bytes, maxBytes },
    sharedUrl: settings.urls.shared,
    purge,
    log,
  });
}
