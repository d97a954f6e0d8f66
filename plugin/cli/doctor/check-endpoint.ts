// plugin/cli/doctor/check-endpoint.ts: whether senders find the endpoint of a feed, and whether it receives mentions.
import { endpointInHeader, firstEndpoint } from "../../http/feed-file.js";
import { linkTargets } from "../../mentions/send/link-header.js";
import { canParseUrl } from "../../url.js";
import { checkScheme } from "./check-feed.js";
import type { ServedFeed } from "./find-feed.js";
import { type Answer, type Finding, fix, isAnswer, jsonIn, note, ok, type Probe, quoted, typeOf } from "./finding.js";

/** The endpoint that a feed names; `null` for none. PROTOCOL 2.2 */
export function endpointOf(feed: ServedFeed): string | null {
  return inField(feed) ?? inLink(feed);
}

/** @see PROTOCOL 1.1 */
export function checkNames(feed: ServedFeed): Finding[] {
  const field = inField(feed);
  const link = inLink(feed);
  const values = feed.header.webmention ?? [];
  if (field === null && link === null) {
    return values.length > 0
      ? [fix(`Its line "# webmention = ${values[0]}" has no valid URL.`, "Write an absolute https URL there.")]
      : [note("The feed names no endpoint for mentions.", "Without one, no one can send you mentions.")];
  }
  if (field === null) {
    return [
      fix(
        `A Link header names the endpoint ${link}, but the feed does not.`,
        `Add "# webmention = ${link}" at the top.`,
      ),
    ];
  }
  const findings = checkLine(feed, field);
  if (link === null) {
    return [
      ...findings,
      note(
        `The feed names the endpoint ${field}, but no Link header does. Some clients only look there.`,
        `Have your host send: Link: <${field}>; rel="webmention"`,
      ),
    ];
  }
  return field === link
    ? [...findings, ok(`The feed and its Link header name the endpoint ${field}`)]
    : [...findings, fix(`The feed names the endpoint ${field}, but its Link header ${link}`, "Make them the same.")];
}

/** One peer (timeline) takes the first `webmention = ` anywhere in the file, with exactly these spaces. */
function checkLine({ text, header }: ServedFeed, field: string): Finding[] {
  const more =
    (header.webmention?.length ?? 0) > 1
      ? [note("The feed names more than one endpoint.", "Keep one: only the first is used.")]
      : [];
  const at = text.indexOf("webmention = ");
  const line = at < 0 ? "" : (text.slice(text.lastIndexOf("\n", at) + 1).split(/\r?\n/, 1)[0] ?? "");
  const value = /^# webmention = (\S+)$/.exec(line)?.[1] ?? "";
  if (canParseUrl(value) && firstEndpoint([value], value) === field) return more;
  const found = line === "" ? "and find nothing" : `which is ${quoted(line)}`;
  return [
    ...more,
    fix(
      `Some senders look for the first "webmention = " in the file, ${found}.`,
      `Add "# webmention = ${field}" at the top, exactly like this.`,
    ),
  ];
}

function inField({ header, url }: ServedFeed): string | null {
  return endpointInHeader(header, url);
}

function inLink({ headers, url }: ServedFeed): string | null {
  return firstEndpoint(linkTargets(headers.link ?? "", "webmention"), url);
}

const FORM = "application/x-www-form-urlencoded";

/** Cheap for any receiver: there is nothing to fetch. */
const INVALID = { method: "POST", headers: { "content-type": FORM }, body: "source=x" } as const;
const MOST_INVALID = 70;
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

/** The findings on an endpoint. */
export interface EndpointCheckup {
  findings: Finding[];
  /** Whether it is an endpoint of this package. */
  isOurs: boolean;
}

/** @param endpoint - an http or https URL */
export async function checkEndpoint(endpoint: string, probe: Probe): Promise<EndpointCheckup> {
  const page = await probe(endpoint);
  if (!isAnswer(page)) return { findings: [page], isOurs: false };
  const refusal = await probe(endpoint, INVALID);
  if (!isAnswer(refusal)) return { findings: [refusal], isOurs: false };

  const isOurs = ["bad-request", "too-many-requests"].includes(codeOf(refusal));
  const findings = [...checkScheme(endpoint, "The endpoint"), ...checkPage(page, endpoint), checkRefusal(refusal)];
  if (isOurs && refusal.status === 400) findings.push(...(await checkMistakes(endpoint, probe)));
  return { findings, isOurs };
}

/**
 * Sends invalid mentions, at most 70, until the rate limit refuses one. Only for the author's own site: an endpoint that
 * redirects gets no second one.
 */
export async function checkRateLimit(endpoint: string, probe: Probe): Promise<Finding> {
  const signal = AbortSignal.timeout(WAIT_MS);
  for (let sent = 0; sent < MOST_INVALID; sent += 1) {
    const answer = await probe(endpoint, { ...INVALID, signal });
    if (!isAnswer(answer)) return answer;
    if (answer.asked.length > 1) return notTested("The endpoint redirects.");
    if (answer.status === 429) return ok("It limits the requests of one IP address");
    if (answer.status >= 500) {
      return fix(
        `After ${sent} invalid mentions the endpoint answers ${answer.status}.`,
        "It should answer 429. Your host's log may say why.",
      );
    }
  }
  return fix(
    `${MOST_INVALID} invalid mentions in a row were processed: there is no rate limit.`,
    "Limit it to 60 per minute, as the plugin's own endpoint does. At the turn of a minute this may be wrong: check again.",
  );
}

/** @param why - or advice */
export function notTested(why: string): Finding {
  return note("The rate limit was not tested.", why);
}

function checkPage({ status, asked, url }: Answer, endpoint: string): Finding[] {
  const findings: Finding[] = [];
  if (asked.length > 1) {
    findings.push(
      fix(`The endpoint ${endpoint} redirects to ${url}. Some senders follow no redirects.`, "Name the second URL."),
    );
  }
  if (status < 400) findings.push(ok(`${url} answers visitors who open it in a browser (${status})`));
  else if (status === 404 || status === 410 || status >= 500) {
    findings.push(fix(`${url} answers ${status}.`, NO_RECEIVER));
  } else {
    findings.push(
      note(
        `${url} has no page for visitors who open it in a browser (${status}).`,
        "A short explanation there helps people.",
      ),
    );
  }
  return findings;
}

function checkRefusal({ status, url }: Answer): Finding {
  if (status === 429) {
    return note(`${url} refuses requests from here for now (429).`, "That is its rate limit. Check again in a minute.");
  }
  if ([404, 405, 501].includes(status)) {
    return fix(`${url} does not receive mentions: it answers POST with ${status}.`, NO_RECEIVER);
  }
  if (status === 401 || status === 403) {
    return fix(
      `${url} refuses all POST requests (${status}).`,
      "Remove the protection of that URL: senders of mentions have no password.",
    );
  }
  if (status < 300) {
    return fix(`${url} accepts an invalid mention (${status}).`, "It should answer 400. Update what runs there.");
  }
  if (status < 400) {
    return fix(
      `${url} redirects POST requests (${status}), which senders do not follow.`,
      "Name the URL that it redirects to.",
    );
  }
  if (status < 500) return ok(`${url} refuses an invalid mention (${status})`);
  return fix(`${url} fails on an invalid mention (${status}).`, "It should answer 400. Your host's log may say why.");
}

async function checkMistakes(endpoint: string, probe: Probe): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { what, type, body, status, code } of MISTAKES) {
    const answer = await probe(endpoint, { method: "POST", headers: { "content-type": type }, body });
    if (!isAnswer(answer)) findings.push(answer);
    else if (answer.status !== status || codeOf(answer) !== code) {
      findings.push(
        fix(
          `${endpoint} answers ${what} with ${answer.status} instead of ${status}.`,
          "Is there a proxy in front of it? If not, update the plugin, build and deploy.",
        ),
      );
    }
  }
  return findings;
}

/** The code in a problem document of this package's endpoints; empty for anything else. */
function codeOf(answer: Answer): string {
  return typeOf(answer) === "application/problem+json" ? String(jsonIn(answer).code) : "";
}
