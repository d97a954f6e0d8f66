// plugin/mentions/receive/read-claim.ts: reads and checks the form of a posted mention.
import { TwtxtError } from "../../errors.js";
import { essenceOf, readBody } from "../../http/respond.js";
import type { PostedClaim } from "../mention.js";
import { parseReference } from "../reference.js";
import type { SiteIndex } from "./site-index.js";

const FORM = "application/x-www-form-urlencoded";
const BODY_LIMIT = 8 * 1024;

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
