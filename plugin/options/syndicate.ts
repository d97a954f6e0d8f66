// plugin/options/syndicate.ts: the option `syndicate`.
import * as v from "valibot";

/** The networks on which copies of posts are posted. */
export const NETWORKS = ["mastodon", "bluesky"] as const;
/** As people know them. */
export const NETWORK_NAMES = { mastodon: "Mastodon", bluesky: "Bluesky" } as const;

const EXPECTED = 'a list such as ["mastodon", "bluesky"]';

export const SYNDICATE = v.array(v.picklist(NETWORKS, EXPECTED), EXPECTED);
export type SyndicateOption = v.InferOutput<typeof SYNDICATE>;
