// plugin/cli/blob/owner.ts: what all actions of `eleventy-twtxt blob` on one's own blobs work with.

import { join } from "node:path";
import { changeBlob, type Outcome, type Owner, putBlob, type ToPut, type Wish } from "../../blobs/client/change.js";
import { blobClient, type Contents } from "../../blobs/client/client.js";
import { type NewestStates, newestStates } from "../../blobs/client/newest.js";
import { TwtxtError } from "../../errors.js";
import { siteApi } from "../../http/site-api.js";
import type { SiteSettings } from "../../site/site.js";
import { FileStore } from "../../store/file.js";
import { type Author, authorAt } from "../author.js";
import { dataFolder } from "../data-folder.js";
import { typed } from "../invocation.js";
import { checkUrl, type OwnSiteValues } from "../own-site.js";
import { siteAt } from "../site.js";
import type { Terminal } from "../terminal.js";

export const NAME = "blob";

/** The author as the owner of blobs at the site here. */
export interface BlobOwner extends Owner {
  author: Author;
  /** Where the site shares blobs: those of an owner are below it. */
  sharedUrl: string;
  /** Of one blob. */
  maxBytes: number;
  /** What the site runs on. */
  host: SiteSettings["host"];
  put(key: string, contents: Contents, what: ToPut): Promise<Outcome>;
  change(key: string, wish: Wish): Promise<Outcome>;
}

/** @throws TwtxtError `bad-usage`; `no-settings` for a site that keeps no blobs; and as {@link authorAt} */
export async function blobOwner(values: OwnSiteValues, terminal: Terminal, signal: AbortSignal): Promise<BlobOwner> {
  checkUrl(values, NAME);
  const { url } = values;
  const { settings } = await siteAt(terminal, values.settings);
  const { blobs, host, urls, hasEndpoints } = settings;
  if (blobs === null || !hasEndpoints) throw noBlobs(host);
  const author = await authorAt(values, terminal, NAME);
  const signer = author.identity;
  const { now } = terminal;
  const api = new URL(urls.blobs);
  const origin = url === undefined ? api.origin : new URL(url).origin;
  const missing = "Give the plugin the option blobs: true, build and deploy.";
  const ask = siteApi({ root: origin + api.pathname, signer, now, missing, signal });
  const owner: Owner = {
    client: blobClient(ask, signer.publicKey),
    signer,
    newest: newestAt({ origin, owner: signer.publicKey }, terminal),
    now,
  };
  return {
    ...owner,
    ...{ author, host, sharedUrl: urls.shared, maxBytes: blobs.maxBytes },
    put: (key, contents, what) => putBlob(owner, key, contents, what),
    change: (key, wish) => changeBlob(owner, key, wish),
  };
}

/** What this machine knows of the blobs of an owner at a site. */
export function newestAt(where: { origin: string; owner: string }, terminal: Terminal): NewestStates {
  return newestStates(new FileStore(knownFolder(terminal)), where);
}

function knownFolder(terminal: Terminal): string {
  return join(dataFolder(terminal), "blobs");
}

/** @param damaged - of what this machine knows: a sentence each */
export function sayDamaged(damaged: readonly string[], terminal: Terminal): void {
  const wayOut = `It is in ${knownFolder(terminal)}: once you remove it, what the site shows counts as the newest state.`;
  for (const line of damaged) terminal.say(`${line} ${wayOut}`);
}

/** Ends what is under way when somebody types Ctrl-C, so that it clears away what it has begun. */
export function endingOf(terminal: Terminal): AbortSignal {
  const ending = new AbortController();
  void terminal.ended().then(() => ending.abort(new TwtxtError("unreachable", "Broken off.")));
  return ending.signal;
}

function noBlobs(host: SiteSettings["host"]): TwtxtError {
  const options =
    host === "static"
      ? `the options blobs: true and host: "netlify", or host: "node" for \`${typed("serve")}\``
      : "the option blobs: true";
  return new TwtxtError("no-settings", `This site keeps no blobs. Give the plugin ${options}; build and deploy.`);
}
