// plugin/cli/blob/blob-options.ts: the keys and options that several actions of `blob` have.
import { misuse } from "../../author/invocation.js";
import type { MetadataChange } from "../../blobs/client/own-blobs.js";
import { checkFilename, checkProperties, checkType } from "../../blobs/metadata.js";
import { PROOF_PROPERTIES } from "../../blobs/proof.js";
import { TwtxtError } from "../../errors.js";
import { isBlobKey } from "../../site/routes.js";
import { actionsWith } from "../command.js";
import { flag, type Kind, OWN_SITE_OPTIONS, option, repeatable, text, type ValuesOf } from "../options.js";

export const action = actionsWith(OWN_SITE_OPTIONS);

export const KEY: Kind<string> = {
  name: "KEY",
  expected: "a key as blob list shows it, of 1 to 128 characters from A-Z a-z 0-9 . _ -",
  parse: (value) => (isBlobKey(value) ? value : null),
};

const PROPERTY: Kind<[name: string, value: string]> = {
  name: "NAME=VALUE",
  expected: "a name and a value, such as album=quinces",
  parse(property) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(property) ?? [];
    if (name === undefined || value === undefined) return null;
    if (PROOF_PROPERTIES.includes(name)) {
      throw new TwtxtError("bad-usage", `the property "${name}" belongs to the proof, which this command creates.`);
    }
    checkProperties({ [name]: value });
    return [name, value];
  },
};

const checked = (name: string, check: (value: string) => string): Kind<string> => ({
  name,
  expected: name,
  parse: check,
});

export const METADATA = {
  public: flag("anyone can read it by its URL"),
  private: flag("only you can read it; the default for a new blob"),
  filename: option(checked("NAME", checkFilename), "instead of the name of the file"),
  type: option(checked("TYPE", checkType), "instead of the media type of the file"),
  property: repeatable(PROPERTY, "sets a property of your own"),
  "no-property": repeatable(text("NAME", "a name"), "removes a property of your own"),
};
export const MARKDOWN = { markdown: flag("prints a link to paste into a post") };

/** The change that options ask for. @throws TwtxtError `bad-usage` */
export function readChange(values: ValuesOf<typeof METADATA>, where: string): MetadataChange {
  const { type, filename, property, "no-property": without } = values;
  if (values.public && values.private) throw misuse(where, "use either --public or --private.");
  return {
    ...(type !== undefined && { type }),
    ...(filename !== undefined && { filename }),
    ...((values.public || values.private) && { isPublic: values.public }),
    ...(property.length > 0 && { properties: Object.fromEntries(property) }),
    ...(without.length > 0 && { without }),
  };
}
