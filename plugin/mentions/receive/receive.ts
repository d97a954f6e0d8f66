// plugin/mentions/receive/receive.ts: the endpoint that others post their mentions to.
import { TwtxtError } from "../../errors.js";
import { type Handler, line, methodNotAllowed, optionsAnswer } from "../../http/respond.js";
import { ROUTES } from "../../site/routes.js";
import type { Moderation } from "./moderate.js";
import type { PendingMentions } from "./pending.js";
import { readClaim } from "./read-claim.js";
import type { Settle } from "./settle.js";
import type { SiteIndex } from "./site-index.js";

const { methods } = ROUTES.webmention;

/**
 * Receives mentions: `POST source, target`.
 *
 * 200 kept or removed, 202 kept until the source answers, 400 and its neighbours for what the sender did wrong.
 *
 * @see PROTOCOL 2.4
 */
export function receiveMention({ siteIndex, moderation, settle, pending, feedUrl }: ReceiveParts): Handler {
  const receive: Handler = async (request, { address }) => {
    const claim = await readClaim(request, siteIndex);
    if (moderation.isBlocked(claim.source)) throw new TwtxtError("blocked", "This source is not wanted here.");
    switch (await settle(claim, address)) {
      case "kept":
        return line("The mention is verified and kept.");
      case "removed":
        return line("The mention is removed.");
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

export interface ReceiveParts {
  siteIndex: SiteIndex;
  moderation: Moderation;
  settle: Settle;
  pending: PendingMentions;
  feedUrl: string;
}

/** What a person sees who opens the endpoint. The feed's URL holds nothing that HTML would take for its own. */
function explanation(isHead: boolean, feedUrl: string): Response {
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Mentions</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem}input{display:block;width:100%;box-sizing:border-box;font:inherit;margin:0 0 1rem}</style>
<h1>Mentions are received here</h1>
<p>A client posts the form fields <code>source</code> and <code>target</code> to this address when a twt or a page mentions this site. You can do it by hand:</p>
<form method="post">
<label>Your twt or page <input name="source" required placeholder="https://bob.example/twtxt.txt#:~:text=2026-01-02T03:04:05Z"></label>
<label>What it mentions <input name="target" required value="${feedUrl}"></label>
<button>Tell this site</button>
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
