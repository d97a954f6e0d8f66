// plugin/mentions/receive/receive.ts: the webmention endpoint.
import { TwtxtError } from "../../errors.js";
import {
  allowing,
  answerPerson,
  checkType,
  FORM,
  type Handler,
  type HttpRequest,
  isBrowser,
  line,
  readBody,
} from "../../http/respond.js";
import { later } from "../../later.js";
import { ROUTES } from "../../site/routes.js";
import type { PostedClaim } from "../mention.js";
import { parseReference } from "../reference.js";
import { senderGroup } from "./allowance.js";
import type { AnsweringSite } from "./endpoint-page.js";
import type { Moderation } from "./moderation.js";
import type { PendingMentions } from "./pending.js";
import type { SiteIndex } from "./site-index.js";
import type { ClaimOutcome, ClaimProcessor } from "./verify-and-store.js";

/** With words in eight languages, which the answer to a program does not need. */
const pages = later(() => import("./endpoint-page.js"));

const BODY_LIMIT = 8 * 1024;

const ANSWERS: Record<ClaimOutcome, { status: 200 | 202; text: string }> = {
  stored: { status: 200, text: "Mention verified and stored." },
  removed: { status: 200, text: "Mention removed." },
  waiting: { status: 202, text: "Mention accepted. Its source will be checked later." },
  "no verdict": {
    status: 202,
    text: "Mention accepted. Its source did not answer and will be checked again later.",
  },
};

/**
 * Receives mentions: `POST source, target`.
 *
 * Answers 200 for stored or removed, 202 for pending, and 4xx for a mistake of the sender.
 *
 * @see PROTOCOL 2.4
 */
export function receiveMention({ siteIndex, moderation, claims, pending, site }: ReceiveParts): Handler {
  const receive = async (form: URLSearchParams, address: string): Promise<[ClaimOutcome, target: string]> => {
    const claim = readClaim(form, siteIndex);
    await moderation.blockList?.refresh();
    if (moderation.isBlocked(claim.source))
      throw new TwtxtError("blocked", "This site blocks mentions from this source.");
    const sender = senderGroup(address);
    const outcome = await claims.process(claim, sender);
    if (outcome === "waiting" || outcome === "no verdict") await pending.add(claim, sender);
    return [outcome, claim.target.url];
  };

  return allowing(ROUTES.webmention.methods, async (request, { address }) => {
    if (request.method !== "POST") return (await pages()).explanationPage(site);
    const form = await readForm(request);
    const isPage = isBrowser(request);
    const answer = async () => {
      const [outcome, target] = await receive(form, address);
      const { status, text } = ANSWERS[outcome];
      return isPage ? (await pages()).outcomePage(outcome, { status, target }, site) : line(text, status);
    };
    const typed = { source: form.get("source") ?? "", target: form.get("target") ?? "" };
    const refuse = async (error: TwtxtError) => (await pages()).refusalPage(error, typed, site);
    return isPage ? answerPerson(answer, refuse) : answer();
  });
}

interface ReceiveParts {
  siteIndex: SiteIndex;
  moderation: Moderation;
  claims: Pick<ClaimProcessor, "process">;
  pending: PendingMentions;
  site: AnsweringSite;
}

/**
 * Reads the form of a mention.
 *
 * @throws TwtxtError `bad-content-type`, `body-too-large`
 * @see PROTOCOL 2.4, "The request"
 */
export async function readForm(request: HttpRequest): Promise<URLSearchParams> {
  checkType(request, [FORM]);
  return new URLSearchParams(new TextDecoder().decode(await readBody(request, BODY_LIMIT)));
}

/** @throws TwtxtError `bad-request`, and as {@link checkClaim} */
export function readClaim(form: URLSearchParams, siteIndex: SiteIndex): PostedClaim {
  return checkClaim(field(form, "source"), field(form, "target"), siteIndex);
}

/**
 * Checks source and target.
 *
 * @param source - a reference to a twt, or the URL of a page
 * @throws TwtxtError `bad-request`, `bad-source`, `bad-target`, `not-our-target`
 */
export function checkClaim(source: string, target: string, siteIndex: SiteIndex): PostedClaim {
  const from = parseReference(source, "bad-source");
  const to = parseReference(target, "bad-target");
  const wanted = siteIndex.target(to.url);
  if (!wanted) throw new TwtxtError("not-our-target", "The target is neither a feed nor a page of this site.");
  const own = siteIndex.target(from.url);
  if (own?.kind === "feed") throw new TwtxtError("bad-source", "The source is this site's own feed.");
  if (own?.url === wanted.url) throw new TwtxtError("bad-request", "Source and target are the same.");
  if (siteIndex.isOwn(from.url)) {
    throw new TwtxtError("bad-source", "The source is a page of this site. Only other sites can mention it.");
  }

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
