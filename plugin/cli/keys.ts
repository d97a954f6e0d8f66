// plugin/cli/keys.ts: `eleventy-twtxt keys` makes, shows, backs up and brings back private keys.
import { type Action, runAction } from "./command.js";
import { backUp, show } from "./keys/kept-key.js";
import { create, importFile, restore } from "./keys/new-key.js";
import type { Terminal } from "./terminal.js";

export const name = "keys";
export const summary = "makes, shows and backs up the key of your address";
export const help = `Usage: eleventy-twtxt keys create [ADDRESS] [options]
       eleventy-twtxt keys show [ADDRESS] [--identity FILE] [--json]
       eleventy-twtxt keys backup ADDRESS [FILE] [--identity FILE]
       eleventy-twtxt keys restore ADDRESS [options]
       eleventy-twtxt keys import FILE [options]

Your address is NICK@DOMAIN of your site. With its private key you read your messages, manage your
mentions and keep your blobs; the public key, kex1..., stands in the configuration of your site.

  create    makes a key and keeps it in the system keychain, or else in a file that only you can read;
            without ADDRESS for the address of the site in this folder
  show      prints addresses, public keys and where the private ones are kept
  backup    shows the private key as 24 words to write down, on a terminal alone, or copies it into
            a new FILE, for a place that only you can get at
  restore   keeps the key of 24 words, which it reads from standard input or asks for
  import    keeps the key of an identity file, from a backup or from another program

The private key is never printed unasked, and never written over another one of that address.

  --replace        with create: for a new key in the place of one that you have, which is put aside: what
                   was sealed to it can still be read. People are shown that your key has changed
  --file PATH      keeps the new key in this file, and nowhere else
  --keychain       keeps the new key in the system keychain, or not at all
  --identity FILE  the key in this file, in place of those that are found by themselves
  --json           prints address, public key and place as JSON

Example:
  $ eleventy-twtxt keys create alice@alice.example
  kex1syuhwr4g05t4744r23nvxnr7en9cmz53knhr0gja7c84hr7fkw2quf6zcg`;

const ACTIONS = new Map<string, () => Promise<Action>>([
  ["create", async () => create],
  ["show", async () => show],
  ["backup", async () => backUp],
  ["restore", async () => restore],
  ["import", async () => importFile],
]);

export function run(args: string[], terminal: Terminal): Promise<number> {
  return runAction(name, ACTIONS, args, terminal);
}
