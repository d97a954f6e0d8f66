// plugin/author/doctor/check-endpoint.ts: whether senders find the endpoint of a feed, whether it receives mentions, and its lists of them.
import { FEATURES } from "../../host/channels.js";
import { endpointInHeader, firstEndpoint } from "../../http/feed-file.js";
import { linkTargets } from "../../mentions/send/discover.js";
import { PATHS } from "../../site/routes.js";
import { canParseUrl } from "../../url.js";
import { counted } from "../amounts.js";
import { type Answer, type Finding, fix, note, ok, type Probe, parseJson, quoted, runChecks } from "./check.js";
import { checkScheme, type ServedFeed } from "./check-feed.js";

type Findings = AsyncGenerator<Finding>;

/** The endpoint that a feed names; `null` for none. PROTOCOL 2.2 */
export function findEndpoint(feed: ServedFeed): string | null {
  return endpointInHeader(feed.header, feed.url) ?? endpointInLink(feed);
}

function endpointInLink({ headers, url }: ServedFeed): string | null {
  return firstEndpoint(linkTargets(headers.link ?? "", "webmention"), url);
}

/** @see PROTOCOL 1.1 */
export function* checkNames(feed: ServedFeed): Generator<Finding> {
  const field = endpointInHeader(feed.header, feed.url);
  const link = endpointInLink(feed);
  const [value, ...others] = feed.header.webmention ?? [];
  if (field === null && link !== null) {
    const todo = `Add "# webmention = ${link}" at the top.`;
    return yield fix(
      `Some senders do not find where to send mentions: a Link header names the endpoint ${link}, but the feed does not.`,
      todo,
    );
  }
  if (field === null && value !== undefined) {
    return yield fix(
      `The line "# webmention = ${value}" of the feed has no valid URL.`,
      "Write an absolute https URL there.",
    );
  }
  if (field === null) {
    const todo =
      'To receive mentions, give the plugin the option host: "netlify" or host: "node", build and deploy. In a feed that you write yourself, add "# webmention = URL" at the top.';
    return yield note("No one can send mentions to this site: the feed names no endpoint for mentions.", todo);
  }
  if (others.length > 0)
    yield note("The feed names more than one endpoint for mentions.", "Keep one: only the first is used.");
  yield* checkLine(feed, field);
  if (link === null) {
    const what = `Some senders do not find where to send mentions: the feed names the endpoint ${field}, but no Link header does.`;
    yield note(what, linkAdvice(field));
  } else if (field === link) yield ok(`Senders find where mentions go, in the feed and its Link header: ${field}`);
  else yield fix(`The feed names the endpoint ${field}, but its Link header ${link}`, linkAdvice(field));
}

function linkAdvice(endpoint: string): string {
  return `Have your host send: Link: <${endpoint}>; rel="webmention"`;
}

/** One peer (timeline) takes the first `webmention = ` anywhere in the file, with exactly these spaces. */
function* checkLine({ text }: ServedFeed, field: string): Generator<Finding> {
  const line = /^.*?webmention = .*/m.exec(text)?.[0];
  const value = /^# webmention = (\S+)$/.exec(line ?? "")?.[1] ?? "";
  if (canParseUrl(value) && firstEndpoint([value], value) === field) return;
  const found = line === undefined ? "and find nothing" : `which is ${quoted(line)}`;
  const todo = `Add "# webmention = ${field}" at the top, exactly like this.`;
  yield fix(`Some senders look for the first "webmention = " in the file, ${found}.`, todo);
}

const FORM = "application/x-www-form-urlencoded";

/** Cheap for any receiver: there is nothing to fetch. */
const INVALID = { method: "POST", headers: { "content-type": FORM }, body: "source=x" } as const;
/** More than two machines accept in a minute: each counts alone, and a proxy may send every other request to each. */
const MAX_INVALID = 130;
const WAIT_MS = 60_000;

/** The answers of this package's endpoint to other mistakes. PROTOCOL 2.4 */
const MISTAKES = [
  { what: "JSON", type: "application/json", body: "{}", status: 415, code: "bad-content-type" },
  {
    what: "a mention of another site",
    type: FORM,
    body: "source=https%3A%2F%2Fexample.com%2F&target=https%3A%2F%2Fdoctor.invalid%2F",
    status: 400,
    code: "not-our-target",
  },
];

const NO_RECEIVER =
  'Deploy the site with its functions, or name another endpoint. If its host only serves files, give the plugin the option host: "static" and build the site.';

/**
 * @param endpoint - an http or https URL
 * @param lists - its lists of mentions, checked if it is an endpoint of this package
 */
export async function* checkEndpoint(endpoint: string, lists: ListUrls, probe: Probe): Findings {
  const page = await probe(endpoint);
  const refusal = await probe(endpoint, INVALID);
  yield* checkScheme(endpoint, "The endpoint");
  yield* checkPage(page, endpoint);
  yield checkRefusal(refusal);
  const code = readCode(refusal);
  const hasRefused = code === "bad-request" && refusal.status === 400;
  if (hasRefused) yield* runChecks(...MISTAKES.map((mistake) => checkMistake(mistake, endpoint, probe)));
  if (code === "bad-request" || code === "too-many-requests") yield* checkLists(lists, probe);
}

function* checkPage({ status, asked, url }: Answer, endpoint: string): Generator<Finding> {
  if (asked.length > 1) {
    yield fix(
      `The endpoint ${endpoint} redirects to ${url}. Some senders follow no redirects.`,
      `Name the second URL in the feed: "# webmention = ${url}"`,
    );
  }
  if (status < 400) yield ok(`${url} answers visitors who open it in a browser (${status})`);
  else if (status === 404 || status === 410 || status >= 500) yield fix(`${url} answers ${status}.`, NO_RECEIVER);
  else {
    const what = `${url} has no page for visitors who open it in a browser (${status}).`;
    yield note(what, "Have it answer GET with a short explanation.");
  }
}

function checkRefusal({ status, url, headers }: Answer): Finding {
  if (status === 429) {
    const seconds = /^\d{1,4}$/.exec(headers["retry-after"] ?? "")?.[0];
    const wait = seconds === undefined ? "a minute" : counted(Number(seconds), "second");
    return note(
      `The rate limit of ${url} refuses requests from this machine for now (429), so its answers were not checked.`,
      `An earlier check that tested the rate limit causes this, too. Check again in ${wait}.`,
    );
  }
  if ([404, 405, 501].includes(status)) {
    return fix(`${url} does not receive mentions: it answers POST with ${status}.`, NO_RECEIVER);
  }
  if (status === 401 || status === 403) {
    const todo = "Remove the protection of that URL: senders of mentions have no password.";
    return fix(`${url} refuses all POST requests (${status}).`, todo);
  }
  if (status < 300) {
    return fix(
      `${url} accepts an invalid mention (${status}).`,
      "Update the software that receives your mentions: it should answer 400.",
    );
  }
  if (status < 400) {
    const what = `${url} redirects POST requests (${status}), which senders do not follow.`;
    return fix(what, "Name the URL that it redirects to in the feed.");
  }
  if (status < 500) return ok(`${url} refuses an invalid mention (${status})`);
  return fix(`${url} fails on an invalid mention (${status}).`, "Look for the error in the log of your host.");
}

async function* checkMistake(mistake: (typeof MISTAKES)[number], endpoint: string, probe: Probe): Findings {
  const { what, type, body, status, code } = mistake;
  const answer = await probe(endpoint, { method: "POST", headers: { "content-type": type }, body });
  if (answer.status === status && readCode(answer) === code) return;
  yield fix(
    `${endpoint} answers ${what} with ${answer.status} instead of ${status}.`,
    "If there is a proxy in front of it, let it pass such requests. Otherwise update the plugin, build and deploy.",
  );
}

/** The code in a problem document of this package's endpoints; empty for anything else. */
function readCode(answer: Answer): string {
  return answer.type === "application/problem+json" ? String(parseJson(answer).code) : "";
}

/**
 * Sends invalid mentions until the rate limit refuses one. Only for the author's own site: an endpoint that
 * redirects gets no second one.
 */
export async function* checkRateLimit(endpoint: string, probe: Probe): Findings {
  const signal = AbortSignal.timeout(WAIT_MS);
  for (let sent = 0; sent < MAX_INVALID; sent += 1) {
    const { status, asked } = await probe(endpoint, { ...INVALID, signal });
    if (asked.length > 1)
      return yield notTested("The endpoint redirects", "Name the URL that it redirects to in the feed.");
    if (status === 429) return yield ok(`${endpoint} stops a flood of mentions from one sender (rate limit)`);
    if (status >= 500) {
      const what = `After ${sent} invalid mentions the endpoint answers ${status}.`;
      return yield fix(what, "It should answer 429. Look for the error in the log of your host.");
    }
  }
  yield fix(
    `${MAX_INVALID} invalid mentions in a row were processed, and none was refused for a rate limit.`,
    "Limit it to 60 per minute, as the plugin's own endpoint does. If it does, this is wrong at the turn of a minute (check again), or if more than two machines serve the site, each of which counts alone.",
  );
}

/** @param why - a sentence without its full stop */
export function notTested(why: string, todo: string): Finding {
  return note(`${why}, so its rate limit was not tested.`, todo);
}

type ListUrls = Record<"mentionsJson" | "mentionsFeed", string>;

/** The lists of another site: in the folder of its endpoint. */
export function listsBeside(endpoint: string): ListUrls {
  const at = (path: string) => new URL(`.${path}`, endpoint).href;
  return { mentionsJson: at(PATHS.mentionsJson), mentionsFeed: at(PATHS.mentionsFeed) };
}

/** @see PROTOCOL 2.4, 2.5 and 7 */
async function* checkLists({ mentionsJson, mentionsFeed }: ListUrls, probe: Probe): Findings {
  yield* runChecks(checkList(mentionsJson, probe), checkPrivateFeed(mentionsFeed, probe));
  // The private feed was checked.
  const features = FEATURES.filter(({ variables }) => !variables.includes("TWTXT_MENTIONS_TOKEN"));
  const names = features.map(({ name, variables }) => `${name} (${variables.join(", ")})`);
  const what = `This check cannot see which of these are on: ${names.join("; ")}.`;
  yield note(what, "To turn one on, set its variables at your host. docs/mentions.md of the plugin describes them.");
}

async function* checkList(url: string, probe: Probe): Findings {
  const list = await probe(url);
  const { etag, "cache-control": caching = "" } = list.headers;
  if (list.status >= 500) {
    return yield fix(
      `Pages cannot show mentions: ${url} answers ${list.status}.`,
      "Look for the error in the log of your host.",
    );
  }
  if (list.status !== 200 || list.type !== "application/json" || !Array.isArray(parseJson(list).mentions)) {
    return yield fix(
      `${url} is not a list of mentions: it answers ${list.status}.`,
      `Deploy the site with its functions. If its host only serves files, give the plugin the option host: "static" and build the site. If its endpoint is in its own folder, run doctor in the folder of the site's sources.`,
    );
  }
  yield ok(`${url} lists the mentions`);
  if (!list.isForBrowsers) {
    const todo = 'A proxy removes "Access-Control-Allow-Origin: *"; configure it to keep that header.';
    yield fix(`Pages of other sites cannot read ${url}`, todo);
  }
  if (etag === undefined || (await probe(url, { headers: { "if-none-match": etag } })).status !== 304) {
    const what = `${url} is downloaded as a whole each time, changed or not.`;
    yield note(what, "A proxy removes its ETag; configure it to keep that header.");
  }
  if (/max-age="?0*[1-9]/i.test(caching)) {
    const what = `Browsers cache ${url} (${quoted(caching)}), so new mentions appear late.`;
    yield note(what, 'A proxy changes "max-age=0"; configure it to keep that value.');
  }
  if ((await probe(`${url}?doctor=1`)).status === 200) {
    const what = `${url} accepts made-up parameters, and each of them fills the cache with another copy.`;
    yield note(what, "A proxy removes the parameters; configure it to keep them, so that they are refused.");
  }
}

/** Posts a comment on a page of another site, which the site must refuse. */
export async function* checkComments(url: string, probe: Probe): Findings {
  const body = JSON.stringify({ target: "https://doctor.invalid/", text: "A comment by eleventy-twtxt doctor." });
  const answer = await probe(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (answer.status === 404 && readCode(answer) === "not-found") {
    return yield ok(`Readers can comment: ${url} refuses a comment on a page of another site (404)`);
  }
  if (answer.status === 429) return;
  const todo = "Deploy the site with its functions. If there is a proxy in front of it, let it pass POST requests.";
  yield fix(`Readers cannot comment: ${url} answers ${answer.status}.`, todo);
}

async function* checkPrivateFeed(url: string, probe: Probe): Findings {
  const { status } = await probe(url);
  if (status === 401) yield ok(`Only you can read ${url}, the private feed of mentions: it requires its token`);
  else if (status === 404) {
    yield note(
      `Clients cannot follow mentions of this site: there is no private feed of mentions at ${url}`,
      "To follow your mentions in a client, set TWTXT_MENTIONS_TOKEN at your host to the output of `openssl rand -hex 16`.",
    );
  } else if (status === 200) {
    const todo = "Delete that file from your site: its path belongs to the private feed of mentions.";
    yield fix(`${url} is public.`, todo);
  } else yield fix(`${url} answers ${status} without a token, not 401.`, "Look for the error in the log of your host.");
}
