// plugin/blobs/metadata-json.ts: metadata in JSON. PROTOCOL 4
import { TwtxtError } from "../errors.js";
import { badMetadata, type Change, checkFilename, checkProperties, checkType } from "./metadata.js";

/** Readers of the fields. */
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
 * Reads `Type`, `Public`, `Filename` and `Properties`, in upper or lower case but not both. Of identical names the last
 * counts, as usual in JSON.
 *
 * @throws TwtxtError `bad-request` for anything but a JSON object; `bad-metadata`
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
    throw new TwtxtError("bad-request", "The body is not JSON.");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new TwtxtError("bad-request", "The body is not a JSON object.");
}

function textOf(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw badMetadata(`"${name}" is a text`);
}
