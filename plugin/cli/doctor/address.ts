// plugin/cli/doctor/address.ts: whether others find the key and the inbox of an address.
import { TwtxtError } from "../../errors.js";
import { discoveryPaths } from "../../keys/address.js";
import { parseKey } from "../../keys/key.js";
import { counted, type Finding, fix, note, ok, quoted } from "./finding.js";
import { isSeen, jsonIn, type Look, type Seen, typeOf } from "./look.js";

/** A name that nobody has: no address has a user of more than 64 characters. */
const NOBODY = `/.well-known/msg/${"nobody".repeat(11)}.json`;
const REBUILD = "Build and deploy the site again.";

/** Whose address is looked up. */
export interface AddressToCheck {
  /** `user@domain` */
  address: string;
  /** Where its documents are asked for: the root of the domain. */
  origin: string;
  /** Whether the site is known to have documents, so that none is a fault. */
  isExpected: boolean;
}

/** @see PROTOCOL 3.1 */
export async function checkAddress({ address, origin, isExpected }: AddressToCheck, look: Look): Promise<Finding[]> {
  const paths = discoveryPaths(address);
  const answers = await Promise.all([...paths, NOBODY].map((path) => look(origin + path, { isHttpsNeeded: true })));
  for (const answer of answers) if (!isSeen(answer)) return [answer];

  const seen = answers.filter(isSeen);
  const documents = seen.filter(isDocument);
  const misses = seen.filter((answer) => !isDocument(answer));
  if (documents.length === 0) return [nowhere(address, isExpected)];
  return [
    ...checkFound(address, paths.length, documents),
    ...documents.flatMap(checkDocument),
    ...missing(misses),
    ...checkMisses(misses),
  ];
}

function isDocument(seen: Seen): boolean {
  const { endpoint, key } = jsonIn(seen);
  return seen.status === 200 && typeof endpoint === "string" && typeof key === "string";
}

function nowhere(address: string, isExpected: boolean): Finding {
  return isExpected
    ? fix(
        `The documents of ${address} are nowhere, so nobody can write to you in private.`,
        "Have your host publish the folder .well-known, and deploy the site again.",
      )
    : note(
        `Nobody can write to ${address} in private.`,
        "They can once the site has the options key and endpoint. Is it another address? Then add --address USER@DOMAIN",
      );
}

function checkFound(address: string, places: number, documents: Seen[]): Finding[] {
  const contents = new Set(documents.map(({ bytes }) => bytes.toString()));
  return [
    ok(`The key of ${address} is found in ${documents.length} of ${counted(places, "place")}`),
    ...(contents.size > 1 ? [fix("Its documents differ: who writes to you may use an old key.", REBUILD)] : []),
  ];
}

function missing(misses: Seen[]): Finding[] {
  return misses
    .filter(({ asked }) => !asked[0]?.endsWith(NOBODY))
    .map(({ asked, status }) =>
      fix(`${asked[0]} has no such document (${status}). Some clients look there alone.`, REBUILD),
    );
}

function checkDocument(seen: Seen): Finding[] {
  const { headers, url, asked } = seen;
  const findings: Finding[] = [];
  if (asked.length > 1) {
    findings.push(note(`${asked[0]} redirects to ${url}`, "Serve it there: some clients follow no redirect."));
  }
  if (typeOf(seen) !== "application/json") {
    findings.push(
      fix(
        `${url} is served as ${quoted(headers["content-type"] ?? "")}.`,
        "Have your host serve it as application/json.",
      ),
    );
  }
  if (headers["access-control-allow-origin"] !== "*") {
    findings.push(
      fix(`Clients in a browser may not read ${url}`, 'Have your host send "Access-Control-Allow-Origin: *".'),
    );
  }
  if (headers["accept-encoding"] !== undefined) {
    findings.push(
      fix(
        `${url} has a header Accept-Encoding, which one client takes for something else.`,
        "Have your host leave it out.",
      ),
    );
  }
  return [...findings, ...checkContent(seen)];
}

function checkContent(seen: Seen): Finding[] {
  const { endpoint, key } = jsonIn(seen);
  const findings: Finding[] = [];
  if (!isInbox(String(endpoint), seen.url)) {
    findings.push(
      fix(
        `${seen.url} names the inbox ${quoted(String(endpoint))}, where nobody can write to.`,
        'Give the option "endpoint" an absolute https URL.',
      ),
    );
  }
  try {
    parseKey(String(key));
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    findings.push(fix(`The key in ${seen.url} is none: ${error.message}`, 'Copy it once more into the option "key".'));
  }
  return findings;
}

/** http is for trying out, where the document itself is served so. */
function isInbox(endpoint: string, documentUrl: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol } = new URL(endpoint);
  return protocol === "https:" || (protocol === "http:" && documentUrl.startsWith("http:"));
}

/** A client that asks for somebody who is not there must not take the answer for a document. */
function checkMisses(misses: Seen[]): Finding[] {
  const wrong = misses.find((seen) => seen.status !== 404 || /json/.test(typeOf(seen)));
  if (!wrong) return [];
  const kind = /json/.test(typeOf(wrong)) ? `${wrong.status} and JSON` : String(wrong.status);
  return [
    fix(
      `For somebody who is not there, ${wrong.url} answers ${kind}. Some clients take that for a key.`,
      "Have your host answer 404 with a page or a line of text.",
    ),
  ];
}
