// plugin/client/mentions/mentions-room.tsx: the room of mentions: lists by state, the author's decisions, and the questions before some of them.
import { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { readSender, SiteMentions } from "../../author/mentions/site-mentions.js";
import { openSiteData } from "../../author/site-store.js";
import { Visits } from "../../author/visits.js";
import { TwtxtError } from "../../errors.js";
import { once } from "../../later.js";
import { type MentionState, readWords } from "../../mentions/mention.js";
import type { ManagedMention } from "../../mentions/receive/managed-mention.js";
import { GUEST } from "../../site/visible-name.js";
import { BackgroundCount } from "../background-run.js";
import { type ClientEnv, type ClientRequest, type FormFields, isRefresh } from "../client-request.js";
import type { ClientContext, CreateRoom } from "../notices.js";
import {
  ActionButton,
  Fields,
  Form,
  LinkButton,
  type OtherPages,
  PageLinks,
  Question,
  Submit,
  Time,
} from "../page-parts.js";
import { MentionAbout, StrangersLink, StrangersText, Via } from "../strangers-text.js";
import { MOST_OF_YEAR, Tabs, YearPage, yearStart } from "./year.js";

const PATH = "/mentions";
const PER_PAGE = 50;
const ICON = "M15.5 12a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0v1.2a2.4 2.4 0 0 0 4.8 0V12a8.3 8.3 0 1 0-3.4 6.7";
const STATES = ["shown", "held", "rejected"] as const;

export const mentionsRoom: CreateRoom = (context) => {
  const routes = new Hono<ClientEnv>();
  const { notices } = context;
  const open = () => SiteMentions.open(context.choice, context.machine, context.ending);
  const waiting = new BackgroundCount(async () => (await open()).count("held"), context);
  const visits = once(() => openVisits(context));
  routes.get("/", async (c) => listPage(c, await open(), { waiting, visits: await visits() }));
  routes.get("/year", async (c) => {
    const now = context.machine.now();
    const mentions = await (await open()).list("shown", MOST_OF_YEAR);
    const ofYear = mentions.filter(({ received }) => received >= yearStart(now));
    return c.render(<YearPage mentions={ofYear} now={now} />, { title: "Mentions of the last year" });
  });
  routes.get("/block", (c) => {
    const host = c.req.query("host") ?? "";
    return c.render(<BlockPage host={host} />, { title: `Block ${host}` });
  });
  routes.get("/forget", async (c) => {
    const site = await open();
    const id = c.req.query("id") ?? "";
    const mention = (await site.find(id)).find((one) => one.id === id);
    if (!mention) throw new TwtxtError("not-found", "This mention is no longer there.");
    return c.render(<ForgetPage mention={mention} describe={site.describe} />, { title: "Forget this mention?" });
  });
  const findTab = ({ state }: FormFields) => toTab(parseState(state));
  notices.addForm(routes, "/decide", findTab, async ({ id = "", version = "", state, to }) => {
    const change = { from: parseState(state), to: parseState(to) };
    return (await open()).decideOne({ id, version: version || null }, change);
  });
  notices.addForm(routes, "/decide-many", findTab, async ({ state, decision = "", ...fields }) => {
    const [to, which = "picked"] = decision.split(" ");
    const mentions = Object.entries(fields).flatMap(([name, version = ""]) =>
      name.startsWith(`${which}.`) ? [{ id: name.slice(which.length + 1), version: version || null }] : [],
    );
    if (mentions.length === 0) return { text: "Nothing is selected.", isFailure: true };
    const site = await open();
    if (to !== "blocked") return site.decideMany(mentions, { from: parseState(state), to: parseState(to) });
    const found = (await Promise.all(mentions.map(({ id }) => site.find(id)))).flat();
    return site.block([...new Set(found.map(readSender))]);
  });
  notices.addForm(routes, "/forget", findTab, async ({ id = "" }) => {
    await (await open()).forget(id);
    return { text: "Forgotten. If it is sent again, it comes back." };
  });
  notices.addForm(routes, "/block", toTab("rejected"), async ({ host = "" }) => (await open()).block([host]));
  notices.addForm(routes, "/unblock", toTab("rejected"), async ({ host = "" }) => (await open()).unblock([host]));
  notices.addForm(routes, "/verify", PATH, async () => (await open()).verify());
  return {
    title: "Mentions",
    path: PATH,
    icon: ICON,
    keys: KEYS,
    routes,
    news: () => ({ count: waiting.current, what: "held" }),
  };
};

const KEYS = [
  { key: "a", does: "approves the mention" },
  { key: "x", does: "rejects the mention" },
  { key: "u", does: "undoes the last decision" },
  { key: "r", does: "replies" },
  { key: "b", does: "blocks the sender of the mention, after a question" },
  { key: "d", does: "deletes the mention, after a question" },
];

interface Lists {
  waiting: BackgroundCount;
  visits: Readonly<Record<MentionState, Visits>>;
}

async function listPage(c: ClientRequest, site: SiteMentions, { waiting, visits }: Lists) {
  const [held, pending] = await Promise.all([site.count("held"), site.count("pending")]);
  waiting.set(held);
  const asked = c.req.query("state");
  const state = asked === undefined ? (held > 0 ? "held" : "shown") : parseState(asked);
  const after = c.req.query("after") ?? null;
  const { mentions, next, blocked } = await site.page(state, after, PER_PAGE);
  const older = next && `${toTab(state)}&after=${encodeURIComponent(next)}`;
  const pages = { newer: after === null ? null : toTab(state), older };
  const visit = visits[state];
  const [newest] = mentions;
  if (!isRefresh(c) && pages.newer === null && newest) await visit.markSeen(newest.received);
  return c.render(
    <ListPage
      {...{ state, mentions, pages, held, pending, blocked }}
      describe={site.describe}
      seen={visit.seenBefore}
    />,
    { title: "Mentions" },
  );
}

async function openVisits({ machine, openSite }: ClientContext): Promise<Lists["visits"]> {
  const { settings } = await openSite();
  const store = openSiteData("seen-mentions", settings.feedUrl, machine);
  const open = (state: MentionState) => Visits.open(store, state, machine.now);
  return { held: await open("held"), shown: await open("shown"), rejected: await open("rejected") };
}

function toTab(state: MentionState): string {
  return `${PATH}?state=${state}`;
}

/** @throws TwtxtError `bad-request` */
function parseState(text: string | undefined): MentionState {
  const state = STATES.find((one) => one === text);
  if (state === undefined)
    throw new TwtxtError("bad-request", `There is no list "${text}". Lists: ${STATES.join(", ")}.`);
  return state;
}

interface List extends Pick<SiteMentions, "describe"> {
  state: MentionState;
  mentions: readonly ManagedMention[];
  held: number;
  /** Number of mentions that are not verified yet. */
  pending: number;
  pages: OtherPages;
  /** The blocked senders, in the list of rejected mentions. */
  blocked: readonly string[];
  /** Mentions received after this time are new; `null` for none. */
  seen: string | null;
}

const EMPTY: Readonly<Record<MentionState, string>> = {
  held: "Nothing waits for your approval.",
  shown: "No one has mentioned you yet.",
  rejected: "You have rejected nothing.",
};

export const ListPage: FC<List> = ({ describe, state, mentions, held, pending, pages, seen, blocked }) => (
  <>
    <Tabs current={state} held={held} />
    <div id="pending" data-live>
      {pending > 0 && (
        <Form action="/mentions/verify" class="actions">
          <span>
            {counted(pending, "mention is", "mentions are")} pending: your site could not read the source yet.
          </span>
          <button type="submit">Verify now</button>
        </Form>
      )}
    </div>
    <div id="all" data-live>
      {mentions.length > 1 && <DecideMany {...{ mentions, state }} />}
    </div>
    <ul id="mentions" class="items" data-live>
      {mentions.map((mention) => (
        <MentionItem
          {...{ mention, describe }}
          isNew={seen !== null && mention.received > seen}
          isSelectable={mentions.length > 1}
        />
      ))}
    </ul>
    <div id="rest" data-live>
      {mentions.length === 0 && <p class="muted">{EMPTY[state]}</p>}
      <PageLinks pages={pages} of="mentions" />
      {blocked.length > 0 && <Blocked senders={blocked} />}
    </div>
  </>
);

/** Decides about several mentions of the page: those whose box is ticked, or all. */
const DecideMany: FC<Pick<List, "mentions" | "state">> = ({ mentions, state }) => {
  const button = (decision: string, label: string) => (
    <Submit name="decision" value={decision} class="quiet" label={label} />
  );
  return (
    <Form id="many" action="/mentions/decide-many" class="actions">
      <Fields
        fields={{ state, ...Object.fromEntries(mentions.map(({ id, version }) => [`all.${id}`, version ?? ""])) }}
      />
      {state !== "shown" && button("shown picked", "Approve selected")}
      {state !== "rejected" && button("rejected picked", "Reject selected")}
      {button("blocked picked", "Block selected")}
      {state !== "shown" && button("shown all", `Approve all ${mentions.length}`)}
      {state !== "rejected" && button("rejected all", `Reject all ${mentions.length}`)}
    </Form>
  );
};

export const BlockPage: FC<{ host: string }> = ({ host }) => (
  <Question fields={{ host }} yes="Block" back="/mentions">
    <p>This rejects all mentions from {host} that are shown or held, and refuses new ones until you unblock it.</p>
  </Question>
);

const Blocked: FC<{ senders: readonly string[] }> = ({ senders }) => (
  <>
    <h2>Blocked</h2>
    <ul>
      {senders.map((host) => (
        <li>
          {host}{" "}
          <ActionButton action="/mentions/unblock" fields={{ host }} class="quiet" label="Unblock" about={host} />
        </li>
      ))}
    </ul>
  </>
);

export function ForgetPage({ mention, describe }: BylineProps) {
  const { id, state } = mention;
  return (
    <Question fields={{ id, state }} yes="Forget it" back={`/mentions?state=${state}`}>
      <p>
        <Byline {...{ mention, describe }} />
      </p>
      <p>
        Forgetting deletes it for good, and keeps no record of it. If it is sent again, it comes back. To hide it
        permanently, reject it instead.
      </p>
    </Question>
  );
}

function MentionItem({
  mention,
  describe,
  isNew,
  isSelectable,
}: BylineProps & { isNew: boolean; isSelectable: boolean }) {
  const { id, version, author, html, source } = mention;
  const text = mention.text && readWords({ text: mention.text, author });
  return (
    <li id={`mention-${id}`} class={isNew ? "unread" : undefined} data-item tabindex={-1}>
      <p class="mention-by">
        {isSelectable && (
          <input
            type="checkbox"
            form="many"
            name={`picked.${id}`}
            value={version ?? ""}
            aria-label={`Select the mention by ${author?.name || readSender(mention)}`}
          />
        )}{" "}
        <Byline {...{ mention, describe }} />
        {isNew && <span class="count"> new</span>}
      </p>
      {text !== null && text !== "" && <StrangersText text={text} html={html} source={source} />}
      <Decisions mention={mention} />
    </li>
  );
}

interface BylineProps extends Pick<SiteMentions, "describe"> {
  mention: ManagedMention;
}

function Byline({ mention, describe }: BylineProps) {
  const { author, source, url = source, published, received } = mention;
  const name = author?.name || readSender(mention);
  return (
    <>
      <strong>
        <StrangersLink href={author?.page ?? author?.url ?? source}>{name}</StrangersLink>
      </strong>
      {author?.guest && name !== GUEST && " (guest)"}
      <Via source={source} author={author} /> <MentionAbout sentence={describe(mention)} />,{" "}
      <StrangersLink href={url}>
        <Time at={published ?? received} />
      </StrangersLink>
    </>
  );
}

function Decisions({ mention }: { mention: ManagedMention }) {
  const { id, state, source, version, author, type, copy } = mention;
  const sender = readSender(mention);
  const onNetwork = copy !== undefined && type === "reply" ? "&on=network" : "";
  const decide = (to: "shown" | "rejected", key: string, label: string): Child => (
    <ActionButton
      action="/mentions/decide"
      fields={{ id, version: version ?? "", state, to }}
      shortcut={key}
      class={to === "shown" ? "primary" : undefined}
      label={label}
    />
  );
  return (
    <div class="actions">
      {state !== "shown" && decide("shown", "a", "Approve")}
      {state !== "rejected" && decide("rejected", "x", "Reject")}
      <LinkButton data-key="r" href={`/write?reply-to=${encodeURIComponent(source)}${onNetwork}`} label="Reply" />
      <LinkButton
        isQuiet
        data-key="b"
        href={`/mentions/block?host=${encodeURIComponent(sender)}`}
        label="Block"
        about={author?.guest ? author.name : sender}
      />
      <LinkButton isQuiet data-key="d" href={`/mentions/forget?id=${id}`} label="Forget" />
    </div>
  );
}
