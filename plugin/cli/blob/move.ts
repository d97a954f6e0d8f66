// plugin/cli/blob/move.ts: `blob move`
import { counted } from "../../author/amounts.js";
import { blobSite } from "../../author/blobs/blob-site.js";
import { listFormerBlobs, type MovedBlob, moveBlobs } from "../../author/blobs/move-blobs.js";
import { typed, typedHints } from "../../author/invocation.js";
import { shortKey } from "../../blobs/blob.js";
import { TwtxtError } from "../../errors.js";
import type { OwnSiteValues } from "../options.js";
import { printData } from "../output.js";
import type { Terminal } from "../terminal.js";

/** `blob move`: moves the blobs of former keys to the current one. */
export async function move(
  values: OwnSiteValues & { from: string | undefined },
  _: null,
  terminal: Terminal,
): Promise<number> {
  const site = await blobSite(values, terminal);
  const former = await listFormerBlobs(site, terminal, values.from);
  if (former.length === 0) {
    throw new TwtxtError(
      "no-identity",
      `This machine has no former key of ${site.author.address}. If you have its 24 words, type \`${typed(`keys restore ${site.author.address} --file old.key`)}\`, then add --from old.key`,
    );
  }
  for (const { key, fault } of former) if (fault !== null) terminal.say(`${key}: ${fault}`);
  const all: MovedBlob[] = [];
  for await (const blob of moveBlobs(former, site, terminal)) {
    all.push(blob);
    terminal.say(`${shortKey(blob.key)}: ${blob.why === null ? "moved" : `not moved: ${typedHints(blob.why)}`}.`);
  }
  printData(all, [], values, terminal);
  const moved = all.filter(({ isMoved }) => isMoved).length;
  terminal.say(`${counted(moved, "blob")} moved to ${site.author.identity.publicKey}.`);
  return moved === all.length && former.every(({ fault }) => fault === null) ? 0 : 1;
}
