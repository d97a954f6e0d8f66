// plugin/cli/mentions.ts: `eleventy-twtxt mentions` lists the mentions that the site received, and moderates them.
import { typed } from "../author/invocation.js";
import { DECISIONS, readSender, SiteMentions } from "../author/mentions/site-mentions.js";
import { ifTwtxtError, TwtxtError } from "../errors.js";
import { decisionName } from "../mentions/inform/digest-text.js";
import { type MentionState, readWords } from "../mentions/mention.js";
import { type ManagedMention, STATES } from "../mentions/receive/managed-mention.js";
import { formatSentence, viaHost } from "../site/mention-sentence.js";
import { GUEST } from "../site/visible-name.js";
import { actionsWith, toCommand } from "./command.js";
import { IMPORT_OPTIONS, importFiles } from "./mentions-import.js";
import {
  choice,
  FILE,
  flag,
  idPrefix,
  type Kind,
  oneByPrefix,
  oneOrMore,
  SITE_API_OPTIONS,
  text,
  type ValuesOf,
  withDefault,
} from "./options.js";
import { canAsk, isConfirmed, printData, reportOutcome, type Terminal } from "./terminal.js";

/** The number of mentions that are listed without `--all`. */
const PAGE = 50;
const ID_LENGTH = 32;
const LEAST = 4;

const OPTIONS = {
  state: withDefault(choice("STATE", STATES), "shown", `lists mentions in this state: ${STATES.join(", ")}`),
  all: flag(`lists all mentions in this state, not only the newest ${PAGE}`),
  yes: flag("deletes all mentions from a source without asking, for scripts"),
  ...SITE_API_OPTIONS,
};

type Values = ValuesOf<typeof OPTIONS>;

const action = actionsWith(OPTIONS);

interface Decision {
  id: string;
  version: string | null;
}

const EXPECTED = `an id such as 3f2a91bc.07d4e5f6, as mentions lists it (at least its first ${LEAST} characters, 0-9 and a-f)`;
const ID = idPrefix(LEAST, ID_LENGTH, EXPECTED);
const DECISION: Kind<Decision> = {
  name: "ID",
  expected: EXPECTED,
  parse(value) {
    const [id = "", version = null, ...others] = value.split(".");
    const prefix = ID.parse(id);
    const isVersion = version === null || /^[0-9a-f]{4,16}$/.test(version);
    return prefix !== null && isVersion && others.length === 0 ? { id: prefix, version } : null;
  },
};

const SOURCE = text("ID", "an id, a feed URL or a host");

export const mentions = toCommand({
  name: "mentions",
  summary: "lists, approves, rejects and deletes mentions of you",
  about: 'Manages the mentions of your site, with requests signed with its key: the one in the option "key".',
  actions: {
    list: action({
      usage: "[--state STATE] [--all] [--json]",
      help: "lists mentions, newest first",
      async run(values, _, terminal) {
        const site = await SiteMentions.open(values, terminal);
        const { state, all } = values;
        const { mentions, count } = await site.page(state, null, PAGE);
        const listed = all ? await site.list(state) : mentions;
        printData(
          listed,
          listed.map((mention) => formatMention(mention, site)),
          values,
          terminal,
        );
        const more =
          listed.length < count
            ? `, the newest ${listed.length} listed. All: ${typed(`mentions --state ${state} --all`)}`
            : "";
        terminal.say(`${Math.max(count, listed.length)} ${state}${more}.${await nextStep(listed, state, site)}`);
        return 0;
      },
    }),
    approve: action({
      usage: "ID...",
      help: 'shows a mention. ID.VERSION, as listed, approves it only if it has not changed since; the option "moderate" requires the version',
      words: oneOrMore(DECISION),
      run: decide("shown"),
    }),
    reject: action({
      usage: "ID...",
      help: "hides a mention permanently; versions work as with approve",
      words: oneOrMore(DECISION),
      run: decide("rejected"),
    }),
    hold: action({
      usage: "ID...",
      help: "undoes a decision: the mention is hidden, and waits for your approval again",
      words: oneOrMore(DECISION),
      run: decide("held"),
    }),
    forget: action({
      usage: "ID|FEED|HOST... [--yes]",
      help: "deletes mentions, by id or all from a source, and keeps no record of them. Asks before it deletes all from a source",
      words: oneOrMore(SOURCE),
      run: forget,
    }),
    block: action({
      usage: "ID|FEED|HOST...",
      help: "rejects everything from a source, such as the reader of a comment, and refuses what it sends from now on",
      words: oneOrMore(SOURCE),
      run: decideSenders("block"),
    }),
    unblock: action({
      usage: "ID|FEED|HOST...",
      help: "takes new mentions of a blocked source again",
      words: oneOrMore(SOURCE),
      run: decideSenders("unblock"),
    }),
    blocked: action({
      usage: "[--json]",
      help: 'lists the sources that "block" has blocked',
      async run(values, _, terminal) {
        const { blocked } = await (await SiteMentions.open(values, terminal)).page("rejected", null, 1);
        printData(blocked, blocked, values, terminal);
        terminal.say(`${blocked.length} blocked, besides those in the option "mentions.block".`);
        return 0;
      },
    }),
    verify: action({
      help: "verifies pending mentions now",
      run: async (values, _, terminal) =>
        reportOutcome(await (await SiteMentions.open(values, terminal)).verify(), terminal),
    }),
    export: action({
      help: "prints all mentions as JSON",
      async run(values, _, terminal) {
        const mentions = await (await SiteMentions.open(values, terminal)).all();
        terminal.print(JSON.stringify({ mentions }, null, 2));
        terminal.say(`${mentions.length} exported.`);
        return 0;
      },
    }),
    import: action({
      usage: "FILE... [--dry-run] [--move OLD=NEW]",
      help: "imports comments from an export of Disqus or WordPress (XML) or the database of isso; or mentions from one of webmention.io (mentions.jf2) or of this command",
      options: IMPORT_OPTIONS,
      words: oneOrMore(FILE),
      run: importFiles,
    }),
  },
  standard: "list",
  shared: OPTIONS,
  example: `$ eleventy-twtxt mentions --state held
3f2a91bc.07d4e5f6  2026-11-20T09:00:00Z  bob  replied to "A wooden boat"  https://bob.example/4
$ eleventy-twtxt mentions approve 3f2a91bc.07d4e5f6
$ eleventy-twtxt mentions import disqus.xml --move /2014/05/=/posts/ --dry-run
12  https://alice.example/posts/quinces/
disqus.xml: 14 comments: 12 to import, 2 left out (2 deleted). Nothing was imported.`,
});

async function nextStep([first]: ManagedMention[], state: Values["state"], site: SiteMentions): Promise<string> {
  if (state === "held" && first) {
    return ` To show one: ${typed(`mentions approve ${decisionName(first.id, first.version)}`)}`;
  }
  const held = state === "shown" ? await site.count("held") : 0;
  if (held > 0) return ` ${held} held for your approval: ${typed("mentions --state held")}`;
  return first ? "" : ` Other states: --state ${STATES.filter((other) => other !== state).join(", ")}.`;
}

function decide(state: MentionState) {
  return async (values: Values, decisions: Decision[], terminal: Terminal): Promise<number> => {
    const site = await SiteMentions.open(values, terminal);
    for (const decision of await Promise.all(decisions.map((one) => wholeDecision(one, site)))) {
      const demandVersion = async ({ code }: TwtxtError) => {
        const why = "An id alone is not enough, since the mention may have changed since you read it.";
        const mention = await findMention(decision.id, site);
        const name = decisionName(mention.id, mention.version);
        throw new TwtxtError(code, `${why} If you have read this one, type ${name}: ${formatMention(mention, site)}`);
      };
      const mention = await site.decide(decision, state).catch(ifTwtxtError(demandVersion, "precondition-required"));
      terminal.say(`${DECISIONS[state]}: ${formatMention(mention, site)}`);
    }
    return 0;
  };
}

/**
 * Completes the id and the version.
 *
 * @throws TwtxtError `precondition-failed` if the mention has changed since it was listed
 */
async function wholeDecision({ id, version }: Decision, site: SiteMentions): Promise<Decision> {
  if (version === null) return { id: await wholeId(id, site), version };
  const mention = await findMention(id, site);
  if (mention.version?.startsWith(version)) return mention;
  const what = `${id}.${version} has changed since it was listed. It is now: ${formatMention(mention, site)}`;
  throw new TwtxtError("precondition-failed", what);
}

async function forget(values: Values, names: string[], terminal: Terminal): Promise<number> {
  const site = await SiteMentions.open(values, terminal);
  const sources = names.filter((name) => DECISION.parse(name) === null);
  if (sources.length > 0 && !values.yes && !(await isDeletionConfirmed(sources, terminal))) {
    terminal.say("Nothing was deleted.");
    return 1;
  }
  let deleted = 0;
  for (const name of names) {
    const decision = DECISION.parse(name);
    deleted += await (decision ? site.forget(await wholeId(decision.id, site)) : site.forgetSource(name));
  }
  terminal.say(`${deleted} deleted.`);
  return deleted > 0 ? 0 : 1;
}

/** @throws TwtxtError `bad-usage` if there is no terminal to ask on */
async function isDeletionConfirmed(sources: readonly string[], terminal: Terminal): Promise<boolean> {
  const what = `all mentions from ${sources.join(" and ")}`;
  if (canAsk(terminal)) return isConfirmed(`Delete ${what} for good?`, terminal);
  const command = typed(`mentions forget ${sources.join(" ")} --yes`);
  throw new TwtxtError("bad-usage", `mentions: this deletes ${what} for good. To confirm, type: ${command}`);
}

function decideSenders(action: "block" | "unblock") {
  return async (values: Values, names: string[], terminal: Terminal): Promise<number> => {
    const site = await SiteMentions.open(values, terminal);
    const toSender = async (name: string) => {
      const decision = DECISION.parse(name);
      return decision ? readSender(await findMention(decision.id, site)) : name;
    };
    return reportOutcome(await site[action](await Promise.all(names.map(toSender))), terminal);
  };
}

async function wholeId(prefix: string, site: SiteMentions): Promise<string> {
  return prefix.length === ID_LENGTH ? prefix : (await findMention(prefix, site)).id;
}

/** @throws TwtxtError `not-found` unless exactly one id has this prefix */
async function findMention(prefix: string, site: SiteMentions): Promise<ManagedMention> {
  return oneByPrefix(prefix, await site.find(prefix), "mention");
}

function formatMention(mention: ManagedMention, site: SiteMentions): string {
  const { id, version, received, author, source, text } = mention;
  const said = text && readWords({ text, author });
  const quote = said === null ? "" : `  ${JSON.stringify(said.length > 80 ? `${said.slice(0, 79)}…` : said)}`;
  const via = author && viaHost({ source, author });
  const name = `${author?.name ?? "?"}${author?.guest && author.name !== GUEST ? " (guest)" : ""}${via === null ? "" : `, via ${via}`}`;
  const sentence = formatSentence(site.describe(mention));
  return `${decisionName(id, version)}  ${received.slice(0, 19)}Z  ${name}  ${sentence}  ${source}${quote}`;
}
