// plugin/cli/blob.ts: `eleventy-twtxt blob` stores files at the author's site.
import { typedHints } from "../author/invocation.js";
import { checkFilename, checkProperties, checkType } from "../blobs/metadata.js";
import { PROOF_PROPERTIES } from "../blobs/proof.js";
import { TwtxtError } from "../errors.js";
import { isBlobKey } from "../site/routes.js";
import { actionsWith, type Command, toCommand } from "./command.js";
import {
  address,
  FILE,
  flag,
  type Kind,
  number,
  OWN_SITE_OPTIONS,
  one,
  oneOrMore,
  option,
  repeatable,
  text,
  zeroOrMore,
} from "./options.js";

const KEY: Kind<string> = {
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

const action = actionsWith(OWN_SITE_OPTIONS);
const METADATA = {
  public: flag("anyone can read it by its URL"),
  private: flag("only you can read it; the default for a new blob"),
  filename: option(checked("NAME", checkFilename), "instead of the name of the file"),
  type: option(checked("TYPE", checkType), "instead of the media type of the file"),
  property: repeatable(PROPERTY, "sets a property of your own"),
  "no-property": repeatable(text("NAME", "a name"), "removes a property of your own"),
};
const MARKDOWN = { markdown: flag("prints a link to paste into a post") };

const actions = {
  put: action({
    usage: ["FILE|FOLDER|-... [--public|--private] [--key NAME] [--markdown]", "FILE... --encrypt [--to ADDRESS]..."],
    help: "stores files, all files in folders, and with - standard input. Files that the site already has are not sent again. Prints the shared URL of a public blob, or the key of a private one",
    options: {
      ...METADATA,
      key: option({ ...KEY, name: "NAME" }, "stores it under this key, where another file can replace it later"),
      ...MARKDOWN,
      encrypt: flag("seals the file first: the site sees its size and a time only"),
      to: repeatable(address("bob@bob.example"), "a recipient of --encrypt besides you"),
      again: flag("also sends files that the site says it has"),
      concurrency: option(number(1, 32), "how many files to send at once (default 4; with --encrypt 1)"),
    },
    words: oneOrMore(text("FILE", 'a file, a folder, or "-" for standard input')),
    run: async (...asked) => (await import("./blob/put.js")).put(...asked),
  }),
  get: action({
    usage: "KEY|URL [-o FILE|-] [--force] [--sealed] [--unverified]",
    help: "verifies a blob, saves it under its own file name, and opens it if it is sealed to you. With a shared URL, gets a blob of another owner",
    options: {
      output: option(FILE, "where to save it: a file, a folder, or - for standard output", "o"),
      force: flag("replaces an existing file"),
      sealed: flag("does not open sealed files"),
      unverified: flag("saves a blob that fails verification too, and says why it failed"),
    },
    words: one(text("KEY", "one key as blob list shows it, or one shared URL")),
    run: async (...asked) => (await import("./blob/get.js")).get(...asked),
  }),
  list: action({
    usage: "[--all]",
    help: "lists the newest 50 blobs: key, size, visibility, time of the last change, and file name",
    options: { all: flag("lists all of them") },
    run: async (...asked) => (await import("./blob/stored-blobs.js")).list(...asked),
  }),
  info: action({
    usage: "KEY",
    help: "shows all that is known about a blob",
    words: one(KEY),
    run: async (...asked) => (await import("./blob/stored-blobs.js")).info(...asked),
  }),
  set: action({
    usage: "KEY [--public|--private] [--filename NAME] [--type TYPE] ...",
    help: "changes visibility, name, type or properties of a blob",
    options: METADATA,
    words: one(KEY),
    run: async (...asked) => (await import("./blob/stored-blobs.js")).set(...asked),
  }),
  share: action({
    usage: "KEY [--markdown]",
    help: "makes a blob public, and prints its URL",
    options: MARKDOWN,
    words: one(KEY),
    run: async (...asked) => (await import("./blob/stored-blobs.js")).share(...asked),
  }),
  rm: action({
    usage: "KEY...",
    help: "deletes blobs",
    words: oneOrMore(KEY),
    run: async (...asked) => (await import("./blob/stored-blobs.js")).rm(...asked),
  }),
  move: action({
    usage: "[--from FILE]",
    help: "moves the blobs of your former keys to your present one. URLs in posts stay, as long as the option blobs.formerKeys names the former keys",
    options: { from: option(FILE, "the file of a former key, if it is not in the default place") },
    run: async (...asked) => (await import("./blob/stored-blobs.js")).move(...asked),
  }),
  verify: action({
    usage: "[KEY...]",
    help: "reads all your blobs, or these, and reports each wrong or missing one",
    words: zeroOrMore(KEY),
    run: async (...asked) => (await import("./blob/stored-blobs.js")).verify(...asked),
  }),
};

const command = toCommand({
  name: "blob",
  summary: "stores files at your site, public or private",
  about:
    'Requests are signed with the key of your address, and each blob carries a proof signed with it: a site that changes a file, or shows an older version, is detected. A key is the SHA-256 of the file unless you choose one; the first 6 characters of a SHA-256 are enough. Put "--" before a key that starts with "-".',
  actions,
  shared: OWN_SITE_OPTIONS,
  notes: "Exit code 1 if a file could not be stored, or a blob is not as you stored it.",
  example: `$ eleventy-twtxt blob put --public quinces.jpg
quinces.jpg: new, 1.2 MiB, public, 9f86d081884c
https://alice.example/shared/kex1.../9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd1...
$ eleventy-twtxt blob put --encrypt --to bob@bob.example --public plan.pdf`,
});

/** With `--json`, errors are printed as JSON too. */
export const blob: Command = {
  ...command,
  async run(args, terminal) {
    try {
      return await command.run(args, terminal);
    } catch (error) {
      const isAnswer = error instanceof TwtxtError && error.code !== "bad-usage";
      if (isAnswer && args.includes("--json")) {
        terminal.print(JSON.stringify({ error: typedHints(error.message) }, null, 2));
      }
      throw error;
    }
  },
};
