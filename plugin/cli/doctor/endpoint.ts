// plugin/cli/doctor/endpoint.ts: whether an endpoint receives mentions, and refuses what is none.
import { checkScheme } from "./feed-serving.js";
import { type Finding, fix, note, ok } from "./finding.js";
import { isSeen, jsonIn, type Look, type Seen, typeOf } from "./look.js";

const FORM = "application/x-www-form-urlencoded";

/** The first one is cheap for any receiver: there is nothing that it could fetch. */
const WRONG = { method: "POST", headers: { "content-type": FORM }, body: "source=x" } as const;
const MOST_WRONG = 70;
const WAIT_MS = 60_000;

/** What our own endpoint says to other mistakes. PROTOCOL 2.4 */
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

/** What an endpoint has shown. */
export interface EndpointCheckup {
  findings: Finding[];
  /** Whether it is one of this package's. */
  isOurs: boolean;
}

/** @param endpoint - an http or https URL */
export async function checkEndpoint(endpoint: string, look: Look): Promise<EndpointCheckup> {
  const page = await look(endpoint);
  if (!isSeen(page)) return { findings: [page], isOurs: false };
  const refusal = await look(endpoint, WRONG);
  if (!isSeen(refusal)) return { findings: [refusal], isOurs: false };

  const isOurs = ["bad-request", "too-many-requests"].includes(codeOf(refusal));
  const findings = [...checkScheme(endpoint, "The endpoint"), ...checkPage(page, endpoint), checkRefusal(refusal)];
  if (isOurs && refusal.status === 400) findings.push(...(await checkMistakes(endpoint, look)));
  return { findings, isOurs };
}

/**
 * Sends wrong mentions until one is refused for being one too many, 70 at the most. For one's own site alone: an endpoint
 * that leads elsewhere gets no second one.
 */
export async function checkRateLimit(endpoint: string, look: Look): Promise<Finding> {
  const signal = AbortSignal.timeout(WAIT_MS);
  for (let sent = 0; sent < MOST_WRONG; sent += 1) {
    const answer = await look(endpoint, { ...WRONG, signal });
    if (!isSeen(answer)) return answer;
    if (answer.asked.length > 1) return notTried("The endpoint redirects.");
    if (answer.status === 429) return ok("It limits how often one address may post");
    if (answer.status >= 500) {
      return fix(
        `After ${sent} wrong mentions the endpoint answers ${answer.status}.`,
        "It should say 429 then. Your host's log may tell why.",
      );
    }
  }
  return fix(
    `${MOST_WRONG} wrong mentions in a row were read: nothing limits how often one address may post.`,
    "Limit it to 60 a minute, as the plugin's own endpoint does. Just at the turn of a minute this may be a mistake: look again.",
  );
}

/** @param why - or what to do */
export function notTried(why: string): Finding {
  return note("Its rate limit was not tried out.", why);
}

function checkPage({ status, asked, url }: Seen, endpoint: string): Finding[] {
  const findings: Finding[] = [];
  if (asked.length > 1) {
    findings.push(
      fix(`The endpoint ${endpoint} redirects to ${url}. Some senders follow no redirect.`, "Name the second one."),
    );
  }
  if (status < 400) findings.push(ok(`${url} answers visitors who open it in a browser (${status})`));
  else if (status === 404 || status === 410 || status >= 500) {
    findings.push(fix(`${url} answers ${status}.`, NO_RECEIVER));
  } else {
    findings.push(
      note(
        `${url} says nothing to visitors who open it in a browser (${status}).`,
        "A page there that explains it is kind to people.",
      ),
    );
  }
  return findings;
}

function checkRefusal({ status, url }: Seen): Finding {
  if (status === 429) {
    return note(`${url} takes nothing from here for now (429).`, "That is its rate limit. Look again in a minute.");
  }
  if ([404, 405, 501].includes(status)) {
    return fix(`${url} takes no mentions: it answers a POST with ${status}.`, NO_RECEIVER);
  }
  if (status === 401 || status === 403) {
    return fix(
      `${url} lets nobody post (${status}).`,
      "Take the protection off that address: whoever mentions you has no password.",
    );
  }
  if (status < 300) {
    return fix(
      `${url} takes a wrong mention for a good one (${status}).`,
      "It should answer 400. Update what runs there.",
    );
  }
  if (status < 400) {
    return fix(
      `${url} redirects a POST (${status}), which senders do not follow.`,
      "Name the address to which it leads.",
    );
  }
  if (status < 500) return ok(`${url} refuses a wrong mention (${status})`);
  return fix(`${url} breaks over a wrong mention (${status}).`, "It should answer 400. Your host's log may tell why.");
}

async function checkMistakes(endpoint: string, look: Look): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { what, type, body, status, code } of MISTAKES) {
    const answer = await look(endpoint, { method: "POST", headers: { "content-type": type }, body });
    if (!isSeen(answer)) findings.push(answer);
    else if (answer.status !== status || codeOf(answer) !== code) {
      findings.push(
        fix(
          `${endpoint} answers ${what} with ${answer.status} instead of ${status}.`,
          "Is there a proxy in between? If not, update the plugin, build and deploy.",
        ),
      );
    }
  }
  return findings;
}

/** The code of a problem, as our endpoints answer with; empty for anything else. */
function codeOf(answer: Seen): string {
  return typeOf(answer) === "application/problem+json" ? String(jsonIn(answer).code) : "";
}
