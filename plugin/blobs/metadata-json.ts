// plugin/blobs/metadata-json.ts: metadata as it travels in JSON. PROTOCOL 4
import { TwtxtError } from "../errors.js";
import { badMetadata, type Change, checkFilename, checkProperties, checkType } from "./metadata.js";

/** What is read under each name. */
const FIELDS: Record<string, (value: unknown) => Change> = {
  type: (value) => ({ type: checkType(textOf("Type", value)) }),
  filename: (value) => ({ filename: checkFilename(textOf("Filename", value)) }),
  public: (value) => {
    if (typeof value !== "boolean") throw badMetadata('"Public" is true or false');
    return { isPublic: value };
  },
  properties: (value) => ({ properties: checkProperties(value) }),
};

/**
 * What JSON says of a blob: `Type`, `Public`, `Filename` and `Properties`, each in one case, whichever. Of a name that
 * is there twice as it is, the latter counts, as for every reader of JSON.
 *
 * @throws TwtxtError `bad-request` for what is no object of JSON; `bad-metadata`
 */
export function changeInJson(bytes: Uint8Array): Change {
  const change: Change = {};
  const said = new Set<string>();
  for (const [name, value] of entriesOf(bytes)) {
    const field = name.toLowerCase();
    const read = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
    if (!read) throw badMetadata("what is said is none of Type, Public, Filename and Properties");
    if (said.has(field)) throw badMetadata(`"${name}" is there twice`);
    said.add(field);
    Object.assign(change, read(value));
  }
  return change;
}

function entriesOf(bytes: Uint8Array): [string, unknown][] {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new TwtxtError("bad-request", "The body is no JSON.");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new TwtxtError("bad-request", "The body is no object of JSON.");
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw badMetadata(`"${name}" is a text`);
}
