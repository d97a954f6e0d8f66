// plugin/author/doctor/check-address.ts: whether others find the key and the inbox of an address.
import { TwtxtError } from "../../errors.js";
import { discoveryPaths } from "../../keys/address.js";
import { parseKey } from "../../keys/key.js";
import { canParseUrl } from "../../url.js";
import { counted } from "../amounts.js";
import { typed } from "../invocation.js";
import { type Answer, atHost, type Finding, fix, note, ok, type Probe, parseJson, quoted } from "./check.js";

/** A name that no address has: the part before the @ has at most 64 characters. */
const UNKNOWN_USER = `/.well-known/msg/${"nobody".repeat(11)}.json`;
const REBUILD = "Build and deploy the site again.";

export interface AddressToCheck {
  /** `user@domain` */
  address: string;
  origin: string;
  /** Whether the site is known to have documents, so that their absence is a fault. */
  isExpected: boolean;
}

/** @see PROTOCOL 3.1 */
export async function* checkAddress(
  { address, origin, isExpected }: AddressToCheck,
  probe: Probe,
): AsyncGenerator<Finding> {
  const paths = discoveryPaths(address);
  const answers = await Promise.all(
    [...paths, UNKNOWN_USER].map((path) => probe(origin + path, { isHttpsNeeded: true })),
  );
  const documents = answers.filter(isDocument);
  if (documents.length === 0) return yield nowhere(address, isExpected);

  yield ok(
    `Senders of private messages find the key of ${address} (${documents.length} of ${counted(paths.length, "place")})`,
  );
  const contents = new Set(documents.map(({ bytes }) => bytes.toString()));
  if (contents.size > 1)
    yield fix(`The documents with the key of ${address} differ: senders may use an old key.`, REBUILD);
  for (const document of documents) yield* checkDocument(document);

  const misses = answers.filter((answer) => !isDocument(answer));
  for (const { asked, status } of misses) {
    if (asked[0]?.endsWith(UNKNOWN_USER)) continue;
    yield fix(`${asked[0]} has no such document (${status}). Some clients only look there.`, REBUILD);
  }
  yield* checkMisses(misses);
}

function isDocument(answer: Answer): boolean {
  const { endpoint, key } = parseJson(answer);
  return answer.status === 200 && typeof endpoint === "string" && typeof key === "string";
}

function nowhere(address: string, isExpected: boolean): Finding {
  if (isExpected) {
    const what = `No document of ${address} was found, so no one can send you private messages.`;
    return fix(what, "Have your host publish the folder .well-known, and deploy the site again.");
  }
  const create = `create a key with \`${typed("keys create")}\`, give it to the plugin as the option key, build and deploy`;
  const todo = `To receive messages, ${create}. For another address of yours, type \`${typed("doctor --address USER@DOMAIN")}\`.`;
  return note(`No one can send private messages to ${address}.`, todo);
}

function* checkDocument(answer: Answer): Generator<Finding> {
  const { headers, url, asked } = answer;
  if (asked.length > 1) {
    yield note(`${asked[0]} redirects to ${url}`, "Serve it at the first URL: some clients follow no redirects.");
  }
  if (answer.type !== "application/json") {
    const what = `${url} is served as ${quoted(headers["content-type"] ?? "")}.`;
    yield fix(what, atHost("Have your host serve it as application/json."));
  }
  if (!answer.isForBrowsers) {
    yield fix(
      `Clients in a browser cannot read ${url}`,
      atHost('Have your host send "Access-Control-Allow-Origin: *".'),
    );
  }
  if (headers["accept-encoding"] !== undefined) {
    yield fix(`${url} has a header Accept-Encoding, which one client misinterprets.`, "Have your host omit it.");
  }
  const { endpoint, key } = parseJson(answer);
  if (!isInbox(String(endpoint), url)) {
    const what = `${url} names the inbox ${quoted(String(endpoint))}, which is not an https URL.`;
    yield fix(what, 'Give the option "endpoint" an absolute https URL.');
  }
  try {
    parseKey(String(key));
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    yield fix(`The key in ${url} is invalid: ${error.message}`, 'Copy it into the option "key" again.');
  }
}

/** http is fine where the document itself is served over http, for tests. */
function isInbox(endpoint: string, documentUrl: string): boolean {
  if (!canParseUrl(endpoint)) return false;
  const { protocol } = new URL(endpoint);
  return protocol === "https:" || (protocol === "http:" && documentUrl.startsWith("http:"));
}

/** A client must not take the answer for an unknown user for a document. */
function* checkMisses(misses: Answer[]): Generator<Finding> {
  const wrong = misses.find((answer) => answer.status !== 404 || /json/.test(answer.type));
  if (!wrong) return;
  const kind = /json/.test(wrong.type) ? `${wrong.status} and JSON` : String(wrong.status);
  const todo = "Have your host answer 404 with a page or a line of text.";
  yield fix(`For an unknown user, ${wrong.url} answers ${kind}. Some clients take that for a key.`, todo);
}
