// plugin/author/comments/xml-records.ts: reads large XML files as flat records, within limits.
import { TwtxtError } from "../../errors.js";
import { later } from "../../later.js";

const parser = later(() => import("sax"));

/** Real exports need 6 levels, and one attribute for each of about 15 fields. */
const MAX_DEPTH = 32;
const MAX_ATTRIBUTES = 50;
const MAX_FIELDS = 100;
/** WordPress writes URLs with bare ampersands. Each of them costs 5 µs. */
const MAX_AMPERSANDS = 100_000;
/** Characters of a field that are read. */
const FIELD_LIMIT = 100_000;

/** An element with a path of interest. */
export interface XmlRecord {
  /** The names of its elements from the root, such as `rss/channel/item`. */
  path: string;
  /** The texts of its elements and attributes by their paths in the record, such as `author/name` and `thread@dsq:id`. */
  fields: ReadonlyMap<string, string>;
  /** The record that contains it, as far as it is read. */
  above: XmlRecord | null;
}

interface OpenElement {
  path: string;
  record: (XmlRecord & { fields: Map<string, string> }) | null;
}

/**
 * Reads the elements with these paths, in the order of their ends. The file is never held as a whole.
 *
 * Only the entities of XML and HTML are decoded.
 *
 * @throws TwtxtError `bad-file` for another root element, and for XML that is invalid, truncated or nested too deep
 */
export async function* readXmlRecords(
  chunks: AsyncIterable<string>,
  paths: readonly string[],
): AsyncGenerator<XmlRecord> {
  const { default: sax } = await parser();
  const reader = sax.parser(true);
  const [open, found]: [OpenElement[], XmlRecord[]] = [[], []];
  const fail = (why: string) => {
    throw new TwtxtError("bad-file", `The XML cannot be read: ${why}, in line ${reader.line + 1}.`);
  };
  let attributes = 0;
  const addText = (text: string, name = "") => {
    const { path = "", record = null } = open.at(-1) ?? {};
    if (!record) return;
    const field = path.slice(record.path.length + 1) + name;
    const known = record.fields.get(field) ?? "";
    const isRoom = record.fields.has(field) || record.fields.size < MAX_FIELDS;
    if (isRoom && known.length < FIELD_LIMIT) record.fields.set(field, known + text.slice(0, FIELD_LIMIT));
  };
  let ampersands = 0;
  reader.onerror = ({ message }) => {
    ampersands += 1;
    if (!/entity/.test(message) || ampersands > MAX_AMPERSANDS) fail(message.split("\n")[0] ?? "");
    // An unknown entity stays as it is written.
    reader.resume();
  };
  reader.onattribute = () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) fail("an element has too many attributes");
  };
  reader.onopentag = ({ name, attributes: given }) => {
    const { path: outer, record: above = null } = open.at(-1) ?? {};
    const path = outer === undefined ? name : `${outer}/${name}`;
    if (outer === undefined && !paths.some((wanted) => wanted.startsWith(`${name}/`))) fail(`<${name}> is no export`);
    if (open.length >= MAX_DEPTH) fail("its elements are nested too deep");
    open.push({ path, record: paths.includes(path) ? { path, fields: new Map(), above } : above });
    for (const [key, value] of Object.entries(given)) addText(String(value), `@${key}`);
    attributes = 0;
  };
  reader.onclosetag = () => {
    const { path, record } = open.pop() ?? {};
    if (record && record.path === path) found.push(record);
  };
  reader.ontext = addText;
  reader.oncdata = addText;
  for await (const chunk of chunks) {
    reader.write(chunk);
    yield* found.splice(0);
  }
  reader.close();
  yield* found.splice(0);
}
