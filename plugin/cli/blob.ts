// plugin/cli/blob.ts: `eleventy-twtxt blob` stores files at the author's site.
import { typedHints } from "../author/invocation.js";
import { TwtxtError } from "../errors.js";
import { get } from "./blob/get.js";
import { put } from "./blob/put.js";
import { info, list, move, rm, set, share, verify } from "./blob/stored-blobs.js";
import { type Command, toCommand } from "./command.js";
import { OWN_SITE_OPTIONS } from "./options.js";

const command = toCommand({
  name: "blob",
  summary: "stores files at your site, public or private",
  about:
    'Requests are signed with the key of your address, and each blob carries a proof signed with it: a site that changes a file, or shows an older version, is detected. A key is the SHA-256 of the file unless you choose one; the first 6 characters of a SHA-256 are enough. Put "--" before a key that starts with "-".',
  actions: { put, get, list, info, set, share, rm, move, verify },
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
