// plugin/cli/doctor/check-address.ts: whether others find the key and the inbox of an address.
import { TwtxtError } from "../../errors.js";
import { discoveryPaths } from "../../keys/address.js";
import { parseKey } from "../../keys/key.js";
import { canParseUrl } from "../../url.js";
import { counted } from "../output.js";
import { type Answer, type Finding, fix, isAnswer, jsonIn, note, ok, type Probe, quoted, typeOf } from "./finding.js";

/** A name that no address has: the part before the @ has at most 64 characters. */
const UNKNOWN_USER = `/.well-known/msg/${"nobody".repeat(11)}.json`;
const REBUILD = "Build and deploy the site again.";

export interface AddressToCheck {
  /** `user@domain` */
  address: string;
  /** The origin of the domain. */
  origin: string;
  /** Whether the site is known to have documents, so that their absence is a fault. */
  isExpected: boolean;
}

/** @see PROTOCOL 3.1 */
export async function checkAddress({ address, origin, isExpected }: AddressToCheck, probe: Probe): Promise<Finding[]> {
  const paths = discoveryPaths(address);
  const answers = await Promise.all(
    [...paths, UNKNOWN_USER].map((path) => probe(origin + path, { isHttpsNeeded: true })),
  );
  for (const answer of answers) if (!isAnswer(answer)) return [answer];

  const complete = answers.filter(isAnswer);
  const documents = complete.filter(isDocument);
  const misses = complete.filter((answer) => !isDocument(answer));
  if (documents.length === 0) return [nowhere(address, isExpected)];
  return [
    ...checkFound(address, paths.length, documents),
    ...documents.flatMap(checkDocument),
    ...missing(misses),
    ...checkMisses(misses),
  ];
}

function isDocument(answer: Answer): boolean {
  const { endpoint, key } = jsonIn(answer);
  return answer.status === 200 && typeof endpoint === "string" && typeof key === "string";
}

function nowhere(address: string, isExpected: boolean): Finding {
  return isExpected
    ? fix(
        `No document of ${address} was found, so no one can send you private messages.`,
        "Have your host publish the folder .well-known, and deploy the site again.",
      )
    : note(
        `No one can send private messages to ${address}.`,
        "To change that, give the plugin the options key and endpoint. If you have another address, add --address USER@DOMAIN",
      );
}

function checkFound(address: string, places: number, documents: Answer[]): Finding[] {
  const contents = new Set(documents.map(({ bytes }) => bytes.toString()));
  return [
    ok(`The key of ${address} is in ${documents.length} of ${counted(places, "place")}`),
    ...(contents.size > 1 ? [fix("Its documents differ: senders may use an old key.", REBUILD)] : []),
  ];
}

function missing(misses: Answer[]): Finding[] {
  return misses
    .filter(({ asked }) => !asked[0]?.endsWith(UNKNOWN_USER))
    .map(({ asked, status }) =>
      fix(`${asked[0]} has no such document (${status}). Some clients only look there.`, REBUILD),
    );
}

function checkDocument(answer: Answer): Finding[] {
  const { headers, url, asked } = answer;
  const findings: Finding[] = [];
  if (asked.length > 1) {
    findings.push(
      note(`${asked[0]} redirects to ${url}`, "Serve it at the first URL: some clients follow no redirects."),
    );
  }
  if (typeOf(answer) !== "application/json") {
    findings.push(
      fix(
        `${url} is served as ${quoted(headers["content-type"] ?? "")}.`,
        "Have your host serve it as application/json.",
      ),
    );
  }
  if (headers["access-control-allow-origin"] !== "*") {
    findings.push(
      fix(`Clients in a browser cannot read ${url}`, 'Have your host send "Access-Control-Allow-Origin: *".'),
    );
  }
  if (headers["accept-encoding"] !== undefined) {
    findings.push(
      fix(`${url} has a header Accept-Encoding, which one client misinterprets.`, "Have your host omit it."),
    );
  }
  return [...findings, ...checkContent(answer)];
}

function checkContent(answer: Answer): Finding[] {
  const { endpoint, key } = jsonIn(answer);
  const findings: Finding[] = [];
  if (!isInbox(String(endpoint), answer.url)) {
    findings.push(
      fix(
        `${answer.url} names the inbox ${quoted(String(endpoint))}, which is not an https URL.`,
        'Give the option "endpoint" an absolute https URL.',
      ),
    );
  }
  try {
    parseKey(String(key));
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    findings.push(fix(`The key in ${answer.url} is invalid: ${error.message}`, 'Copy it into the option "key" again.'));
  }
  return findings;
}

/** http is fine where the document itself is served over http, for tests. */
function isInbox(endpoint: string, documentUrl: string): boolean {
  if (!canParseUrl(endpoint)) return false;
  const { protocol } = new URL(endpoint);
  return protocol === "https:" || (protocol === "http:" && documentUrl.startsWith("http:"));
}

/** A client must not take the answer for an unknown user for a document. */
function checkMisses(misses: Answer[]): Finding[] {
  const wrong = misses.find((answer) => answer.status !== 404 || /json/.test(typeOf(answer)));
  if (!wrong) return [];
  const kind = /json/.test(typeOf(wrong)) ? `${wrong.status} and JSON` : String(wrong.status);
  return [
    fix(
      `For an unknown user, ${wrong.url} answers ${kind}. Some clients take that for a key.`,
      "Have your host answer 404 with a page or a line of text.",
    ),
  ];
}
