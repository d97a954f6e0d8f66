// plugin/mentions/receive/decision-page.ts: the page on which the author decides about a held mention, without a key.
import { TwtxtError } from "../../errors.js";
import { allowing, type Handler, type HttpResponse, redirect } from "../../http/respond.js";
import { escapeHtml, toHtml } from "../../site/html.js";
import { ROUTES } from "../../site/routes.js";
import { plainTextMarkup } from "../../site/text-markup.js";
import type { DecisionLinks } from "../inform/decision-links.js";
import { decisionName, formatHeadline } from "../inform/digest-text.js";
import { readWords, type StoredMention } from "../mention.js";
import { toSource } from "../reference.js";
import { PRIVATE, privatePage } from "./endpoint-page.js";
import { toMentionVersion } from "./event.js";
import { blockSource, isUnsigned, type Moderation } from "./moderation.js";
import { readForm } from "./receive.js";
import type { ReceivedMentions } from "./received.js";
import type { SiteIndex } from "./site-index.js";

interface DecisionParts {
  /** `null` without a strong secret: the page is off. */
  links: DecisionLinks | null;
  received: ReceivedMentions;
  moderation: Pick<Moderation, "blockList">;
  siteIndex: SiteIndex;
}

/**
 * `GET /moderate/:id?k=` shows a held mention, `POST` decides about it: `decision=shown`, `rejected` or `block`, which also
 * blocks its source. The page has no part of the site's layout, whose scripts could read its URL.
 *
 * @see PROTOCOL 2.6, "Deciding from a phone"
 */
export function decisionPage(parts: DecisionParts): Handler {
  const { links, received, siteIndex, moderation } = parts;
  const { methods } = ROUTES.decision;
  return allowing(methods, async (request, { params: { id = "" } }) => {
    const form = request.method === "POST" ? await readForm(request) : null;
    const mention = links && (await received.get(id));
    if (!links || !mention) throw new TwtxtError("not-found", "There is nothing here.");
    const key = new URL(request.url).searchParams.get("k") ?? "";
    if (!links.isValid(key, mention)) return show(siteIndex, expired());
    if (form && mention.state === "held") {
      await decide(parts, mention, form.get("decision"));
      const { pathname, search } = new URL(request.url);
      return redirect(pathname + search, PRIVATE);
    }
    return show(
      siteIndex,
      mention.state === "held" ? question(mention, siteIndex) : await decided(mention, moderation),
    );
  });
}

async function decide(parts: DecisionParts, mention: StoredMention, decision: string | null): Promise<void> {
  if (decision === "block") {
    await blockSource(readSource(mention), parts);
    return;
  }
  if (decision !== "shown" && decision !== "rejected")
    throw new TwtxtError("bad-request", 'Expected "decision" to be "shown", "rejected" or "block".');
  await parts.received.moderate(mention.id, decision, toMentionVersion(mention));
}

/** What "block" blocks: a feed, an account of another network, or the host of a page. */
function readSource({ timestamp, identity, copy, author }: StoredMention): string {
  if (copy !== undefined) return author.url;
  return timestamp === null ? new URL(identity).host : identity;
}

type Page = Parameters<typeof privatePage>[1];

function question(mention: StoredMention, siteIndex: SiteIndex): Page {
  const title = formatHeadline(mention, siteIndex);
  const source = escapeHtml(toSource(mention));
  const blocked = mention.author.guest ? "this reader" : escapeHtml(readSource(mention));
  const content = `<blockquote dir="auto">${plainTextMarkup(readWords(mention)).map(toHtml).join("")}</blockquote>
<p><a href="${source}" rel="nofollow ugc noopener noreferrer">${source}</a></p>
<form method="post">
<button name="decision" value="shown">Approve</button>
<button name="decision" value="rejected">Reject</button>
${isUnsigned(readSource(mention)) ? "" : `<button name="decision" value="block">Block ${blocked}</button>\n`}</form>`;
  return { title, content, status: 200 };
}

async function decided(mention: StoredMention, { blockList }: DecisionParts["moderation"]): Promise<Page> {
  const [title, undo] = mention.state === "shown" ? ["Approved", "reject"] : ["Rejected", "approve"];
  const name = decisionName(mention.id, toMentionVersion(mention));
  const source = readSource(mention);
  const isBlocked = (await blockList?.read())?.includes(source);
  const content = `<p>To change this: <code>npx eleventy-twtxt mentions ${undo} ${name}</code></p>${
    isBlocked ? `\n<p>Blocked: <code>npx eleventy-twtxt mentions unblock ${escapeHtml(source)}</code></p>` : ""
  }`;
  return { title, content, status: 200 };
}

function expired(): Page {
  const title = "This link is no longer valid";
  const content = `<p>It is valid for seven days, and only while the mention is as it was. To see what waits for you: <code>npx eleventy-twtxt mentions --state held</code></p>`;
  return { title, content, status: 410 };
}

const STYLE =
  "h1{font-size:1.4rem;line-height:1.3}blockquote{margin:1rem 0;padding-left:1rem;border-left:3px solid}button{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0}";

function show({ feedUrl }: SiteIndex, page: Page): HttpResponse {
  return privatePage(feedUrl, { ...page, style: STYLE });
}
