// test/interop/copies.ts: a post whose copies go to servers on this machine.
import { createGuard } from "../../plugin/http/guard.js";
import { APP_VIEW } from "../../plugin/mentions/networks/bluesky.js";
import { toParts } from "../../plugin/mentions/networks/copy-text.js";
import type { CopyToPost, PostingParts } from "../../plugin/mentions/networks/network.js";
import { PICTURE } from "../demo/files.js";

export const PAGE = "https://alice.example/posts/quinces/";
export const ALT = "A quince";
/** With a picture. */
export const attach: CopyToPost["attach"] = async (_, upload) => [
  await upload({ bytes: PICTURE, type: "image/png", alt: ALT, width: 1, height: 1 }),
];
const TEXT = "Quitten & Käse für @<bob https://bob.example/twtxt.txt>";

interface Server {
  host: string;
  url: string;
}

export function toCopy(permalink: string, text = TEXT): CopyToPost {
  return { key: permalink, parts: toParts(text), permalink, attach: async () => [] };
}

/** @param view - answers in place of Bluesky's app view */
export function postingParts(server: Server, view = server): PostingParts {
  const ask = guardFor(server, view);
  return {
    ask: (url, request) => ask(url.replace(APP_VIEW, view.url), request),
    now: Date.now,
    sleep: async () => {},
  };
}

export function guardFor(...servers: Server[]) {
  return createGuard({ userAgent: "interop", allowPrivateHosts: servers.map(({ host }) => host) });
}
