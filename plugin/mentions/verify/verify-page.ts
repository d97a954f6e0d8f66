// plugin/mentions/verify/verify-page.ts: whether somebody's page links to us, a classic Webmention.
import { TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import { startsAsMarkup } from "../../http/feed-file.js";
import type { GuardedResponse } from "../../http/guard.js";
import { normalUrl } from "../../http/same-url.js";
import type { TimeSlices } from "../../http/time-slices.js";
import type { Claim, ProvenMention } from "../mention.js";
import { disproven, type Inspection, verdictOnAnswer } from "./ask-source.js";
import type { Look } from "./identity.js";
import { type ReadHtml, readHtml } from "./mention-in-html.js";
import { textSaid } from "./said.js";
import { textPieces } from "./text-pieces.js";
import { twtOfPage } from "./twt-of-page.js";
import { urlsInText } from "./urls-in-text.js";

const PAGE_BYTES = 1024 * 1024;
const ACCEPT = "text/html, text/plain;q=0.9, */*;q=0.1";
/** How far a browser looks for what a page says of its own characters. */
const HEAD_BYTES = 1024;
/** No address goes beyond these. */
const AROUND_ADDRESS = /[\s<>"`]/g;

/** A page, as far as it could be read. */
interface Page {
  kind: "feed" | "html" | "text" | "other";
  text: string;
  /** Why it was not read to its end; `null` where it was. */
  trouble: TwtxtError | null;
}

/**
 * Looks for the link in a page.
 *
 * @throws TwtxtError as the guard does, and what a body throws where no link stood before
 * @see PROTOCOL 2.4, "The proof"
 */
export async function verifyPage(claim: Claim, inspection: Inspection): Promise<Look> {
  const answer = await inspection.ask(claim.source, PAGE_BYTES, ACCEPT);
  const verdict = verdictOnAnswer(answer);
  if (verdict) return verdict;
  const { kind, text, trouble } = await readPage(answer, inspection.slices);
  const identity = normalUrl(answer.url) ?? answer.url;
  if (kind === "feed") {
    const why = `${identity} is a feed: say which twt, as in ${identity}#:~:text=2026-01-02T03:04:05Z.`;
    return disproven("say-which-twt", why, { isGone: false, identity });
  }

  // The last URL of a text that was cut off may go on. In HTML, the parser leaves out an unfinished tag.
  const whole = trouble && kind === "text" ? text.slice(0, text.search(/(?<!\S)\S*$/)) : text;
  const { mention, declared, feed, isWhole } = await readSource(kind, whole, identity, inspection);
  if (mention) {
    const said = feed === null ? null : await twtOfPage(feed, mention, claim.target, inspection);
    return { outcome: "proven", mention: { ...mention, ...said }, declared, contents: text };
  }
  if (trouble) throw trouble;
  return disproven("no-such-mention", `${identity} does not link to ${claim.target.url}.`, {
    isGone: kind !== "other" && isWhole && text.trim() !== "",
    identity: answer.url,
  });
}

async function readSource(
  kind: Page["kind"],
  text: string,
  identity: string,
  { site, slices, whenAlone }: Inspection,
): Promise<ReadHtml> {
  if (kind === "html") return whenAlone(() => readHtml(text, identity, { site, slices }));
  const hasTarget = (piece: string) => urlsInText(piece).some(site.isTarget);
  const isMention = kind === "text" && (await slices.some(textPieces(text, AROUND_ADDRESS), hasTarget));
  const mention: ProvenMention = {
    identity,
    isDeclared: false,
    timestamp: null,
    instant: null,
    type: "mention",
    author: { name: new URL(identity).host, url: identity, photo: null },
    text: textSaid(text),
    published: null,
    subject: null,
    about: null,
  };
  return { mention: isMention ? mention : null, declared: null, feed: null, isWhole: true };
}

/** What came before the limit of size, or before the answer broke off, counts. */
async function readPage({ body, headers }: GuardedResponse, slices: TimeSlices): Promise<Page> {
  const type = headers["content-type"] ?? "";
  const chunks: Uint8Array[] = [];
  let trouble: TwtxtError | null = null;
  try {
    for await (const chunk of body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    trouble = error;
  }
  const text = decoded(Buffer.concat(chunks), type);
  return { kind: await kindOf(text, type, slices), text, trouble };
}

/** A feed is one whatever it is served as, and a page none, whatever stands in it at the start of a line. */
async function kindOf(text: string, type: string, slices: TimeSlices): Promise<Page["kind"]> {
  const startsAsHtml = startsAsMarkup(text);
  const hasTwt = (lines: string) => parseFeed(lines).twts.length > 0;
  if (!startsAsHtml && (await slices.some(textPieces(text, /\n/g), hasTwt))) return "feed";
  if (/^\s*(text\/html|application\/xhtml\+xml)\b/i.test(type)) return "html";
  if (type.trim() === "") return startsAsHtml ? "html" : "text";
  return /^\s*text\/(plain|markdown|gemini)\b/i.test(type) ? "text" : "other";
}

/** By the characters that the answer, or else the page's head, claims to be in; UTF-8 where these are not known. */
function decoded(bytes: Buffer, type: string): string {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  const [, label = "utf-8"] =
    /\bcharset\s*=\s*["']?([\w:.-]+)/i.exec(type) ?? /<meta[^>]*charset\s*=\s*["']?([\w:.-]+)/i.exec(head) ?? [];
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
