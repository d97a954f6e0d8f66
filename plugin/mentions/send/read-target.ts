// plugin/mentions/send/read-target.ts: reads only the part of a target that can name an endpoint.
import { TwtxtError } from "../../errors.js";
import { parseFeed } from "../../feed/feed.js";
import { startsAsMarkup } from "../../http/feed-file.js";
import type { GuardedResponse } from "../../http/guard.js";

/** The kind of a target and its start: everything before a feed's first twt, or a page's HTML. */
export interface TargetStart {
  kind: "feed" | "page" | "other";
  text: string;
}

/**
 * Reads a response until its endpoint must have been named. A response above the size limit counts up to the limit.
 *
 * @param isPageNeeded - whether a page's HTML is needed, or only its kind
 * @throws TwtxtError what the body throws, except `too-large`
 * @see PROTOCOL 2.2
 */
export async function readTarget(response: GuardedResponse, isPageNeeded: boolean): Promise<TargetStart> {
  const isHtml = /^\s*(text\/html|application\/xhtml\+xml)\s*(;|,|$)/i.test(response.headers["content-type"] ?? "");
  const lines: string[] = [];
  let kind: TargetStart["kind"] | null = null;
  for await (const line of linesOf(response.body)) {
    if (kind === null && line.trim() !== "") kind = kindOf(line, isHtml);
    const isEnough = kind === "feed" ? isTwt(line) : kind === "page" ? !isPageNeeded : kind === "other";
    if (isEnough) break;
    lines.push(line);
  }
  return { kind: kind ?? "other", text: lines.join("\n") };
}

/** A feed may be served as HTML; a page is not a feed under any content type. */
function kindOf(firstLine: string, isHtml: boolean): TargetStart["kind"] {
  if (firstLine.startsWith("#") || isTwt(firstLine)) return "feed";
  if (isHtml) return "page";
  return startsAsMarkup(firstLine) ? "other" : "feed";
}

function isTwt(line: string): boolean {
  return line.includes("\t") && parseFeed(line).twts.length > 0;
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let open = "";
  try {
    for await (const chunk of body) {
      const [end = "", ...next] = decoder.decode(chunk, { stream: true }).split("\n");
      open += end;
      for (const line of next) {
        yield open;
        open = line;
      }
    }
  } catch (error) {
    if (!(error instanceof TwtxtError && error.code === "too-large")) throw error;
  }
  yield open + decoder.decode();
}
