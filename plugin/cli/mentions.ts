// plugin/cli/mentions.ts: `eleventy-twtxt mentions` lists what the site has received, and decides about it.
import { resolve } from "node:path";
import { TwtxtError } from "../errors.js";
import { decisionName } from "../mentions/receive/event.js";
import type { ManagedMention } from "../mentions/receive/manage.js";
import { mentionsOfWebmentionIo } from "../mentions/receive/webmention-io.js";
import { misuse, noSuchAction, readArguments } from "./command.js";
import { readText } from "./files.js";
import { typed } from "./invocation.js";
import { type AskMentions, mentionsApi } from "./mentions-api.js";
import { IDENTITY_OPTION, ownIdentity } from "./own-identity.js";
import { publishedSite, siteAt } from "./site.js";
import type { Terminal } from "./terminal.js";

export const name = "mentions";
export const summary = "lists mentions of you, approves, rejects and forgets them";
export const help = `Usage: eleventy-twtxt mentions [--state STATE] [--json]
       eleventy-twtxt mentions approve|reject ID...
       eleventy-twtxt mentions forget ID|FEED|HOST... [--yes]
       eleventy-twtxt mentions verify
       eleventy-twtxt mentions export
       eleventy-twtxt mentions import FILE

Manages what your site has received, by requests signed with your key: the one that the site has as
its option "key".

  approve, reject   shows a mention, or hides it for good. ID.VERSION, as listed, decides only if the
                    mention has not changed since; the option "moderate" requires it
  forget            deletes mentions, by their ids or all of a source, and remembers nothing of them. Asks
                    before it deletes all of a source
  verify            looks now at what is pending
  export            prints all of them as JSON
  import FILE       takes over what webmention.io has exported (mentions.jf2), or this command

  --state STATE     shown (default), held, pending or rejected
  --json            prints JSON
  --yes             forgets all of a source without asking, as a script has to
  --url URL         where the site is reached, if not at its own address, such as a local server
  --identity FILE   your key, if it is in a file of your own choice
  --settings FILE   the settings of the site (default .eleventy-twtxt/settings.json)

Example:
  $ eleventy-twtxt mentions --state held
  3f2a91bc.07d4e5f6  2026-11-20T09:00:00Z  bob  https://bob.example/twtxt.txt#:~:text=... -> https://alice.example/quinces/  "yours were earlier"
  $ eleventy-twtxt mentions approve 3f2a91bc.07d4e5f6`;

const OPTIONS = {
  state: { type: "string" },
  json: { type: "boolean" },
  yes: { type: "boolean" },
  url: { type: "string" },
  ...IDENTITY_OPTION,
} as const;

const STATES = ["shown", "held", "pending", "rejected"] as const;
const PER_IMPORT = 100;
const ID = /^[0-9a-f]{4,32}(\.[0-9a-f]{4,16})?$/;

export async function run(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(name, args, OPTIONS);
  const [action = "list", ...names] = positionals;
  const state = STATES.find((known) => known === (values.state ?? "shown"));
  if (!state) throw misuse(`${name}: --state is one of ${STATES.join(", ")}, got "${values.state}".`, name);

  const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
  if (!act) throw noSuchAction(name, action, Object.keys(ACTIONS));
  if (act.names === "none" && names.length > 0) throw misuse(`${name}: "${action}" takes no names.`, name);
  if (act.names === "some" && names.length === 0) throw misuse(`${name}: "${action}" needs an id.`, name);
  const ask = await apiOf(values, terminal);
  return act.run(names, { ask, terminal, state, isJson: values.json ?? false, isSure: values.yes ?? false });
}

interface Context {
  ask: AskMentions;
  terminal: Terminal;
  state: (typeof STATES)[number];
  isJson: boolean;
  /** Whether a question is answered with yes already. */
  isSure: boolean;
}

const ACTIONS: Record<string, { names: "none" | "some"; run(names: string[], context: Context): Promise<number> }> = {
  list: { names: "none", run: list },
  approve: { names: "some", run: (ids, context) => decide(ids, "shown", context) },
  reject: { names: "some", run: (ids, context) => decide(ids, "rejected", context) },
  forget: { names: "some", run: forget },
  verify: { names: "none", run: verify },
  export: { names: "none", run: exportAll },
  import: { names: "some", run: importFiles },
};

async function apiOf(
  { url, settings, identity: file }: Partial<Record<"url" | "settings" | "identity", string | undefined>>,
  terminal: Terminal,
): Promise<AskMentions> {
  const { settings: host } = await publishedSite(await siteAt(terminal, settings));
  const identity = await ownIdentity(terminal, { keys: host.authors.map(({ key }) => key), file });
  const { pathname, origin } = new URL(host.urls.mentionsApi);
  if (url !== undefined && !URL.canParse(url)) throw misuse(`${name}: --url is a URL, got "${url}".`, name);
  return mentionsApi((url === undefined ? origin : new URL(url).origin) + pathname, identity, terminal.now);
}

async function list(_: string[], { ask, terminal, state, isJson }: Context): Promise<number> {
  const mentions = await allOf(ask, state);
  if (isJson) terminal.print(JSON.stringify(mentions, null, 2));
  else for (const mention of mentions) terminal.print(lineOf(mention));
  terminal.say(`${mentions.length} ${state}.${await nextStep(mentions, state, ask)}`);
  return 0;
}

/** What else there is to see or to do after a list. */
async function nextStep([first]: ManagedMention[], state: Context["state"], ask: AskMentions): Promise<string> {
  if (state === "held" && first)
    return ` To show one: ${typed(`${name} approve ${decisionName(first.id, first.version)}`)}`;
  const held = state === "shown" ? (await allOf(ask, "held")).length : 0;
  if (held > 0) return ` ${held} held for your approval: ${typed(`${name} --state held`)}`;
  return first ? "" : ` Others: --state ${STATES.filter((other) => other !== state).join(", ")}.`;
}

async function decide(ids: string[], state: "shown" | "rejected", { ask, terminal }: Context): Promise<number> {
  for (const { id, version } of await Promise.all(ids.map((name) => decisionOn(name, ask)))) {
    const headers = version === null ? {} : { "if-match": `"${version}"` };
    const mention = (await ask("POST", `/${id}`, { state }, headers).catch(async (error: unknown) => {
      throw isVersionNeeded(error) ? await versionNeeded(id, ask) : error;
    })) as ManagedMention;
    terminal.say(`${state}: ${lineOf(mention)}`);
  }
  return 0;
}

function isVersionNeeded(error: unknown): boolean {
  return error instanceof TwtxtError && error.code === "precondition-required";
}

async function versionNeeded(id: string, ask: AskMentions): Promise<TwtxtError> {
  const listed = lineOf(await mentionOf(id, ask));
  return new TwtxtError(
    "precondition-required",
    `An id alone is not enough, since the mention may have changed since you read it. Type the id with its version, as listed: ${listed}`,
  );
}

/**
 * The mention that a name means, and the version that was seen; `null` where the name is an id alone.
 *
 * @throws TwtxtError `precondition-failed` where the mention has changed since it was listed
 */
async function decisionOn(name: string, ask: AskMentions): Promise<{ id: string; version: string | null }> {
  const [start = "", seen] = name.split(".");
  if (seen === undefined) return { id: await fullId(start, ask), version: null };
  const mention = await mentionOf(start, ask);
  if (mention.version?.startsWith(seen)) return mention;
  throw new TwtxtError("precondition-failed", `${name} has changed since it was listed. It is now: ${lineOf(mention)}`);
}

async function forget(names: string[], { ask, terminal, isSure }: Context): Promise<number> {
  const sources = names.filter((which) => !ID.test(which));
  if (sources.length > 0 && !isSure && !(await isConfirmed(sources, terminal))) {
    terminal.say("Nothing was deleted.");
    return 1;
  }
  let forgotten = 0;
  for (const which of names) {
    const path = ID.test(which)
      ? `/${await fullId(which.split(".")[0] ?? "", ask)}`
      : `?source=${encodeURIComponent(which)}`;
    forgotten += Number(Object(await ask("DELETE", path)).forgotten);
  }
  terminal.say(`${forgotten} forgotten.`);
  return forgotten > 0 ? 0 : 1;
}

/** @throws TwtxtError `bad-usage` where there is no person to ask */
async function isConfirmed(sources: readonly string[], { isTerminal, ask }: Terminal): Promise<boolean> {
  const what = `all mentions from ${sources.join(" and ")}`;
  if (!isTerminal.stdin || !isTerminal.stderr) {
    const command = typed(`${name} forget ${sources.join(" ")} --yes`);
    throw new TwtxtError("bad-usage", `${name}: this deletes ${what} for good. If you mean that, type: ${command}`);
  }
  const answer = await ask(`Delete ${what} for good? [y/N] `);
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}

async function verify(_: string[], { ask, terminal }: Context): Promise<number> {
  const { kept, dropped, waiting } = Object(await ask("POST", "/verify"));
  terminal.say(`${kept} kept, ${dropped} dropped, ${waiting} still pending.`);
  return 0;
}

async function exportAll(_: string[], { ask, terminal }: Context): Promise<number> {
  const all = await Promise.all(STATES.map((state) => allOf(ask, state)));
  terminal.print(JSON.stringify({ mentions: all.flat() }, null, 2));
  terminal.say(`${all.flat().length} exported.`);
  return 0;
}

async function importFiles(files: string[], { ask, terminal }: Context): Promise<number> {
  for (const file of files) {
    const mentions = await mentionsIn(resolve(terminal.folder, file));
    let imported = 0;
    for (let start = 0; start < mentions.length; start += PER_IMPORT) {
      const answer = await ask("POST", "/import", { mentions: mentions.slice(start, start + PER_IMPORT) });
      imported += Number(Object(answer).imported);
      terminal.say(`${Math.min(start + PER_IMPORT, mentions.length)} of ${mentions.length}`);
    }
    const others = mentions.length - imported;
    const left = others === 0 ? "" : `, ${others} left out, since what they mention is no page of this site`;
    terminal.say(`${file}: ${imported} imported${left}.`);
  }
  return 0;
}

/** @throws TwtxtError `bad-file` */
async function mentionsIn(file: string) {
  const text = await readText(file);
  let json: unknown;
  try {
    json = JSON.parse(text ?? "");
  } catch (cause) {
    throw new TwtxtError("bad-file", `${file} is no JSON.`, { cause });
  }
  const own = Object(json).mentions;
  if (!Array.isArray(own)) return mentionsOfWebmentionIo(json);
  return (own as ManagedMention[])
    .filter(({ state }) => state === "shown")
    .map(({ source, target, type, author, text, published, received }) => ({
      ...{ source, target, type, author, text, published, received },
    }));
}

async function allOf(ask: AskMentions, state: string): Promise<ManagedMention[]> {
  const mentions: ManagedMention[] = [];
  for (let after = ""; ; ) {
    const page = Object(await ask("GET", `?state=${state}${after}`));
    mentions.push(...page.mentions);
    if (page.next === null) return mentions;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

/** An id may be typed by its beginning. */
async function fullId(start: string, ask: AskMentions): Promise<string> {
  if (/^[0-9a-f]{1,3}$/.test(start)) {
    throw misuse(`${name}: "${start}" is too short for an id: type 4 of its characters at the least.`, name);
  }
  if (start.length === 32 || !ID.test(start)) return encodeURIComponent(start);
  return (await mentionOf(start, ask)).id;
}

/** @throws TwtxtError `not-found` where not exactly one id starts so */
async function mentionOf(start: string, ask: AskMentions): Promise<ManagedMention> {
  const all = (await Promise.all(STATES.map((state) => allOf(ask, state)))).flat();
  const found = all.filter(({ id }) => id.startsWith(start));
  const [one] = found;
  if (one && found.length === 1) return one;
  throw new TwtxtError("not-found", `${found.length} mentions have an id that starts with ${start}.`);
}

function lineOf({ id, version, received, author, source, target, under, text }: ManagedMention): string {
  const said = text === null ? "" : `  ${JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)}`;
  return `${decisionName(id, version)}  ${received.slice(0, 19)}Z  ${author?.name ?? "?"}  ${source} -> ${under ?? target}${said}`;
}
