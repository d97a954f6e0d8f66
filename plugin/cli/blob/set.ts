// plugin/cli/blob/set.ts: `blob set` and `blob share`: change what is said of a blob.
import type { Outcome, Wish } from "../../blobs/client/change.js";
import { shortKey } from "../../blobs/client/short-key.js";
import { misuse, readArguments } from "../command.js";
import { OWN_SITE_OPTIONS, type OwnSiteValues } from "../own-site.js";
import type { Terminal } from "../terminal.js";
import { keysNamedBy } from "./keys.js";
import { blobOwner, endingOf, NAME } from "./owner.js";
import { factsOf, markdownOf, placeOf, visibility } from "./shown.js";
import { WISH_OPTIONS, wishIn } from "./wish.js";

/** `blob set` */
export async function set(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob set", args, { ...OWN_SITE_OPTIONS, ...WISH_OPTIONS });
  const wish = wishIn(values);
  if (Object.keys(wish).length === 0) {
    throw misuse(`${NAME} set: say what: --public, --private, --filename, --type, --property or --no-property.`, NAME);
  }
  return change(positionals, wish, values, terminal);
}

/** `blob share` */
export async function share(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments("blob share", args, {
    ...OWN_SITE_OPTIONS,
    markdown: { type: "boolean" },
  });
  return change(positionals, { isPublic: true }, values, terminal);
}

async function change(
  words: readonly string[],
  wish: Wish,
  values: OwnSiteValues & Partial<Record<"json" | "markdown", boolean | undefined>>,
  terminal: Terminal,
): Promise<number> {
  if (words.length !== 1) throw misuse(`${NAME}: say which blob, by one key as blob list shows it.`, NAME);
  const owner = await blobOwner(values, terminal, endingOf(terminal));
  const [key = ""] = await keysNamedBy(words, owner);
  const outcome = await owner.change(key, wish);
  const { blob, note } = outcome;
  const facts = { outcome: outcome.outcome, ...factsOf(blob, owner.sharedUrl), note };
  const place = values.markdown ? markdownOf(blob) : placeOf(blob, owner.sharedUrl);
  terminal.print(values.json ? JSON.stringify(facts, null, 2) : place);
  for (const line of talkOf(outcome)) terminal.say(line);
  return 0;
}

function talkOf({ outcome, blob, note, isProven }: Outcome): string[] {
  const key = shortKey(blob.key);
  const unproven = "It has no proof of yours, since it was put without one. Put it again to give it one.";
  return [
    `${key}: ${outcome}, ${visibility(blob)}`,
    ...(isProven ? [] : [`${key}: ${unproven}`]),
    ...(note === null ? [] : [`${key}: ${note}`]),
  ];
}
