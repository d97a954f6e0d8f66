// plugin/cli/blob/wish.ts: what the options of `blob put` and `blob set` say of a blob.
import type { Wish } from "../../blobs/client/change.js";
import { checkFilename, checkProperties, checkType } from "../../blobs/metadata.js";
import { PROOF_PROPERTIES } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { misuse } from "../command.js";
import { NAME } from "./owner.js";

/** For `readArguments`. */
export const WISH_OPTIONS = {
  public: { type: "boolean" },
  private: { type: "boolean" },
  type: { type: "string" },
  filename: { type: "string" },
  property: { type: "string", multiple: true },
  "no-property": { type: "string", multiple: true },
} as const;

export interface WishValues {
  public?: boolean | undefined;
  private?: boolean | undefined;
  type?: string | undefined;
  filename?: string | undefined;
  property?: string[] | undefined;
  "no-property"?: string[] | undefined;
}

/** @throws TwtxtError `bad-usage`, `bad-metadata` */
export function wishIn(values: WishValues): Wish {
  const { type, filename, property, "no-property": without } = values;
  if (values.public && values.private) throw misuse(`${NAME}: a blob is either --public or --private.`, NAME);
  return {
    ...(type !== undefined && { type: meant("type", type, checkType) }),
    ...(filename !== undefined && { filename: meant("filename", filename, checkFilename) }),
    ...((values.public || values.private) && { isPublic: values.public ?? false }),
    ...(property && { properties: checkProperties(Object.fromEntries(property.map(propertyIn))) }),
    ...(without && { without }),
  };
}

/** @throws TwtxtError `bad-usage`, which names the option */
function meant(option: string, text: string, check: (text: string) => string): string {
  try {
    return check(text);
  } catch (error) {
    if (!(error instanceof TwtxtError)) throw error;
    throw misuse(`${NAME}: --${option} ${JSON.stringify(text)}: ${error.message}`, NAME);
  }
}

function propertyIn(text: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw misuse(`${NAME}: --property is a name and a value such as album=quinces, got "${text}".`, NAME);
  }
  if (PROOF_PROPERTIES.includes(name)) {
    throw misuse(`${NAME}: the property "${name}" belongs to the proof, which is made by itself.`, NAME);
  }
  return [name, value];
}
