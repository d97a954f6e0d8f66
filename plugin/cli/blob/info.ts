// plugin/cli/blob/info.ts: `blob info`: all that is said of a blob.
import { missingBlob } from "../../blobs/client/missing.js";
import { type Judged, judgeAndRemember, refuseWrong } from "../../blobs/client/verdict.js";
import { withoutProof } from "../../blobs/metadata.js";
import type { Proof } from "../../blobs/proof.js";
import { oneLine } from "../../http/one-line.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { keysNamedBy } from "./keys.js";
import { blobOwner, endingOf, NAME } from "./owner.js";
import { factsOf, markdownOf, proofFacts, sizeText } from "./shown.js";

export async function info(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob info", args, OWN_SITE_OPTIONS);
  if (positionals.length !== 1) throw misuse(`${NAME} info: say which blob, by one key as blob list shows it.`, NAME);
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const [key = ""] = await keysNamedBy(positionals, owner);
  const blob = await owner.client.head(key);
  if (!blob) throw await missingBlob(key, owner);
  const proof = refuseWrong(key, await judgeAndRemember(blob, owner.newest));
  // An answer for one blob says neither when it was made, nor its time to the millisecond.
  const { created = null, modified = null } = (await owner.client.list()).find((one) => one.key === key) ?? {};
  const facts = { ...factsOf(blob, owner.sharedUrl), created, modified, proof: proofFacts(proof) };
  if (values.json) terminal.print(JSON.stringify(facts, null, 2));
  else for (const line of linesOf(blob, facts, proof)) terminal.print(line);
  return 0;
}

/** What the answer for a blob does not say. */
type Beside = Record<"shared" | "created" | "modified", string | null>;

function linesOf(blob: Judged, { shared, created, modified }: Beside, proof: Proof): string[] {
  const own = Object.entries(withoutProof(blob.properties));
  const rows: [string, string][] = [
    ["key", blob.key],
    ["shared", shared ?? "no, it is private"],
    ["size", `${sizeText(blob.size)} (${blob.size})`],
    ["sha256", blob.sha256 || "not known"],
    ["type", oneLine(blob.type)],
    ["filename", oneLine(blob.filename) || "none"],
    ["markdown", markdownOf(blob)],
    ["created", oneLine(created ?? "not known")],
    ["modified", oneLine(modified ?? "not known")],
    ...own.map(([name, value]): [string, string] => ["property", oneLine(`${name}=${value}`)]),
    ["proof", proof.state === "right" ? `right, of ${proof.created}` : "none: who put it gave no proof"],
  ];
  return rows.map(([name, value]) => `${name.padEnd(8)}  ${value}`);
}
