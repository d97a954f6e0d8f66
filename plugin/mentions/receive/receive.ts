// plugin/mentions/receive/receive.ts: the webmention endpoint.
import { TwtxtError } from "../../errors.js";
import { essenceOf, type Handler, line, methodNotAllowed, optionsAnswer, readBody } from "../../http/respond.js";
import { ROUTES } from "../../site/routes.js";
import type { PostedClaim } from "../mention.js";
import { parseReference } from "../reference.js";
import type { Moderation } from "./moderation.js";
import type { PendingMentions } from "./pending.js";
import type { SiteIndex } from "./site-index.js";
import type { ClaimProcessor } from "./verify-and-store.js";

const { methods } = ROUTES.webmention;
const FORM = "application/x-www-form-urlencoded";
const BODY_LIMIT = 8 * 1024;

/**
 * Receives mentions: `POST source, target`.
 *
 * Answers 200 for stored or removed, 202 for pending, and 4xx for a mistake of the sender.
 *
 * @see PROTOCOL 2.4
 */
export function receiveMention({ siteIndex, moderation, claims, pending, feedUrl }: ReceiveParts): Handler {
  const receive: Handler = async (request, { address }) => {
    const claim = await readClaim(request, siteIndex);
    if (moderation.isBlocked(claim.source))
      throw new TwtxtError("blocked", "This site blocks mentions from this source.");
    switch (await claims.process(claim, address)) {
      case "stored":
        return line("Mention verified and stored.");
      case "removed":
        return line("Mention removed.");
      case "waiting":
        await pending.add(claim);
        return line("Mention accepted. Its source will be checked later.", { status: 202 });
      case "no verdict":
        await pending.add(claim);
        return line("Mention accepted. Its source did not answer and will be checked again later.", { status: 202 });
    }
  };

  return async (request, asked) => {
    switch (request.method) {
      case "POST":
        return receive(request, asked);
      case "GET":
      case "HEAD":
        return explanation(request.method === "HEAD", feedUrl);
      case "OPTIONS":
        return optionsAnswer(methods);
      default:
        return methodNotAllowed(methods);
    }
  };
}

interface ReceiveParts {
  siteIndex: SiteIndex;
  moderation: Moderation;
  claims: Pick<ClaimProcessor, "process">;
  pending: PendingMentions;
  feedUrl: string;
}

/**
 * Reads the form of a mention.
 *
 * @throws TwtxtError `bad-content-type`, `body-too-large`, `bad-request`, `bad-source`, `bad-target`, `not-our-target`
 * @see PROTOCOL 2.4, "The request"
 */
export async function readClaim(request: Request, siteIndex: SiteIndex): Promise<PostedClaim> {
  if (essenceOf(request.headers.get("content-type")) !== FORM || request.headers.has("content-encoding")) {
    throw new TwtxtError("bad-content-type", `Send ${FORM} without a Content-Encoding.`);
  }
  const form = new URLSearchParams(new TextDecoder().decode(await readBody(request, BODY_LIMIT)));
  return checkClaim(field(form, "source"), field(form, "target"), siteIndex);
}

/**
 * Checks source and target.
 *
 * @param source - a reference to a twt, or the URL of a page
 * @throws TwtxtError as {@link readClaim}
 */
export function checkClaim(source: string, target: string, siteIndex: SiteIndex): PostedClaim {
  const from = parseReference(source, "bad-source");
  const to = parseReference(target, "bad-target");
  const wanted = siteIndex.target(to.url);
  if (!wanted) throw new TwtxtError("not-our-target", "The target is neither a feed nor a page of this site.");
  const own = siteIndex.target(from.url);
  if (own?.kind === "feed") throw new TwtxtError("bad-source", "The source is this site's own feed.");
  if (own?.url === wanted.url) throw new TwtxtError("bad-request", "Source and target are the same.");

  const page = to.timestamps.map((timestamp) => siteIndex.pageOfTwt(timestamp)).find((found) => found !== null) ?? null;
  return {
    source: from.url,
    timestamps: from.timestamps,
    target: wanted,
    under: page === wanted.url ? null : page,
  };
}

function field(form: URLSearchParams, name: string): string {
  const [value, ...more] = form.getAll(name);
  const trimmed = value?.trim() ?? "";
  if (trimmed === "") throw new TwtxtError("bad-request", `The field "${name}" is missing.`);
  if (more.length > 0) throw new TwtxtError("bad-request", `The field "${name}" appears more than once.`);
  return trimmed;
}

/** The page for people who open the endpoint. The feed's URL needs no escaping. */
function explanation(isHead: boolean, feedUrl: string): Response {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mentions</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}input{display:block;width:100%;box-sizing:border-box;font:inherit;margin:0 0 1rem}</style>
<h1>Mentions are received here</h1>
<p>Clients post the form fields <code>source</code> and <code>target</code> to this URL when a twt or page mentions this site. You can also send a mention by hand:</p>
<form method="post">
<label>Your twt or page <input name="source" required placeholder="https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"></label>
<label>The page or feed it mentions <input name="target" required value="${feedUrl}"></label>
<button>Send mention</button>
</form>
</html>
`;
  return new Response(isHead ? null : page, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      "cache-control": "public, max-age=3600",
    },
  });
}
