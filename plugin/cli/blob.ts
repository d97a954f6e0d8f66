// plugin/cli/blob.ts: `eleventy-twtxt blob` keeps files at the author's site.
import { TwtxtError } from "../errors.js";
import { type Action, runAction } from "./command.js";
import type { Terminal } from "./terminal.js";

export const name = "blob";
export const summary = "keeps files at your site, public or private";
export const help = `Usage: eleventy-twtxt blob put FILE|FOLDER|-... [--public|--private] [--key NAME] [--markdown]
       eleventy-twtxt blob put FILE... --encrypt [--to ADDRESS]...
       eleventy-twtxt blob get KEY|URL [-o FILE|-] [--force] [--sealed] [--unverified]
       eleventy-twtxt blob list
       eleventy-twtxt blob info KEY
       eleventy-twtxt blob set KEY [--public|--private] [--filename NAME] [--type TYPE] ...
       eleventy-twtxt blob share KEY [--markdown]
       eleventy-twtxt blob rm KEY...
       eleventy-twtxt blob verify [KEY...]

Requests are signed with the key of your address, and what you put carries a proof by it: a site that
changes a file, or shows an older one, is found out. A key is the SHA-256 of the file unless you give
one; of such a one the first 6 characters will do. One that begins with "-" goes behind "--".

  put       puts files, those of folders, and with "-" standard input. What is there already is not
            sent again. Prints the shared URL, or the key of what is private
  get       saves a blob in a file of its own name, once it is known to be right; opens what is
            sealed to you. With a shared URL, what somebody else shares
  list      a line for each blob: key, size, public or private, when it was changed, name
  info      shows all that is said of a blob
  set       changes what is said of a blob
  share     makes a blob public, and prints its URL
  rm        removes blobs
  verify    reads all that you have put, or these, and says what is wrong

  --public, --private   who may read it: everybody by its URL, or you alone. A new one is private
  --key NAME            1 to 128 of A-Z a-z 0-9 . _ -; another file may take its place later
  --filename NAME, --type TYPE
                        other ones than those of the file
  --property NAME=VALUE, --no-property NAME
                        sets or removes a property of your own; can be repeated
  --markdown            prints a link to paste in a post; so does info
  --encrypt             seals it first: the site gets to know a size and a time
  --to ADDRESS          for whom, beside yourself; can be repeated
  --again               sends also what the site says that it has
  --concurrency N       how many files at once (default 4; with --encrypt 1)
  -o, --output FILE     where to: a file, a folder, or - for standard output
  --force               replaces a file that is there
  --sealed              leaves sealed what is sealed
  --unverified          saves also what is wrong, and says so
  --json                prints JSON
  --as ADDRESS          which of your addresses, where this machine has the keys of several
  --identity FILE       your key, if it is in a file of your own choice
  --url URL             where your site is reached, if not at its own address, such as a local server
  --settings FILE       the settings of the site (default .eleventy-twtxt/settings.json)
  --allow-private-host HOST:PORT
                        a host of your own network that may be asked all the same; can be repeated

Exit code 1 where a file could not be put, or something is not as you have put it.

Example:
  $ eleventy-twtxt blob put --public quinces.jpg
  quinces.jpg: new, 1.2 MiB, public, 9f86d081884c
  https://alice.example/shared/kex1.../9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  $ eleventy-twtxt blob put --encrypt --to bob@bob.example --public plan.pdf`;

/** Each is loaded when it is called. */
const ACTIONS = new Map<string, () => Promise<Action>>([
  ["put", async () => (await import("./blob/put.js")).put],
  ["get", async () => (await import("./blob/get.js")).get],
  ["list", async () => (await import("./blob/list.js")).list],
  ["info", async () => (await import("./blob/info.js")).info],
  ["set", async () => (await import("./blob/set.js")).set],
  ["share", async () => (await import("./blob/set.js")).share],
  ["rm", async () => (await import("./blob/rm.js")).rm],
  ["verify", async () => (await import("./blob/verify.js")).verify],
]);

export async function run(args: string[], terminal: Terminal): Promise<number> {
  try {
    return await runAction(name, ACTIONS, args, terminal);
  } catch (error) {
    const isAnswer = error instanceof TwtxtError && error.code !== "bad-usage";
    if (isAnswer && args.includes("--json")) terminal.print(JSON.stringify({ error: error.message }, null, 2));
    throw error;
  }
}
