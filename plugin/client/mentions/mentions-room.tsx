// plugin/client/mentions/mentions-room.tsx: the room of mentions: lists by state, and the author's decisions.
import { Hono } from "hono";
import { decideMention, rejectHost, verifyPending } from "../../author/mentions/moderate.js";
import { SiteMentions } from "../../author/mentions/site-mentions.js";
import { loadSite } from "../../author/site.js";
import { openSiteData } from "../../author/site-store.js";
import { Visits } from "../../author/visits.js";
import { TwtxtError } from "../../errors.js";
import type { MentionState } from "../../mentions/mention.js";
import { BackgroundCount } from "../background-run.js";
import { type ClientEnv, type ClientRequest, type FormFields, isRefresh } from "../client-request.js";
import { openOnce } from "../open-once.js";
import type { ClientContext, CreateRoom } from "../room.js";
import { BlockPage, ForgetPage, ListPage } from "./mention-pages.js";
import { countWriters, toWeeks, YearPage, yearStart } from "./year.js";

const PATH = "/mentions";
/** The number of mentions on a page. */
const PER_PAGE = 50;
const ICON = "M15.5 12a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0v1.2a2.4 2.4 0 0 0 4.8 0V12a8.3 8.3 0 1 0-3.4 6.7";
const STATES = ["shown", "held", "rejected"] as const;

export const mentionsRoom: CreateRoom = (context) => {
  const routes = new Hono<ClientEnv>();
  const { notices } = context;
  const waiting = new BackgroundCount(async () => (await open(context)).count("held"), context);
  const visits = openOnce(() => openVisits(context));
  routes.get("/", async (c) => listPage(c, { context, waiting, visits: await visits.open() }));
  routes.get("/year", (c) => yearPage(c, context));
  routes.get("/block", (c) => {
    const host = c.req.query("host") ?? "";
    return c.render(<BlockPage host={host} />, { title: `Block ${host}` });
  });
  routes.get("/forget", async (c) => {
    const site = await open(context);
    const id = c.req.query("id") ?? "";
    const mention = (await site.find(id)).find((one) => one.id === id);
    if (!mention) throw new TwtxtError("not-found", "This mention is no longer there.");
    return c.render(<ForgetPage mention={mention} describe={site.describe} />, { title: "Forget this mention?" });
  });
  const findTab = ({ state }: FormFields) => toTab(parseState(state));
  notices.addForm(routes, "/decide", findTab, async ({ id = "", version = "", state, to }) => {
    const change = { from: parseState(state), to: parseState(to) };
    return decideMention({ id, version: version || null }, change, await open(context));
  });
  notices.addForm(routes, "/forget", findTab, async ({ id = "" }) => {
    await (await open(context)).forget(id);
    return { text: "Forgotten. If it is sent again, it comes back." };
  });
  notices.addForm(routes, "/block", toTab("rejected"), async ({ host = "" }) => rejectHost(host, await open(context)));
  notices.addForm(routes, "/verify", PATH, async () => verifyPending(await open(context)));
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
  { key: "b", does: "blocks the host of the mention, after a question" },
  { key: "d", does: "deletes the mention, after a question" },
];

interface Lists {
  context: ClientContext;
  waiting: BackgroundCount;
  visits: Readonly<Record<MentionState, Visits>>;
}

async function listPage(c: ClientRequest, { context, waiting, visits }: Lists) {
  const site = await open(context);
  const [held, pending] = await Promise.all([site.count("held"), site.count("pending")]);
  waiting.set(held);
  const asked = c.req.query("state");
  const state = asked === undefined ? (held > 0 ? "held" : "shown") : parseState(asked);
  const { items: mentions, pages } = await pageFrom(site, state, c.req.query("after") ?? null);
  const visit = visits[state];
  const newest = mentions
    .map(({ received }) => received)
    .sort()
    .at(-1);
  if (!isRefresh(c) && pages.newer === null && newest !== undefined) await visit.markSeen(newest);
  return c.render(
    <ListPage {...{ state, mentions, pages, held, pending }} describe={site.describe} seen={visit.seenBefore} />,
    { title: "Mentions" },
  );
}

/** A page of a list that the site divides into pages. */
async function pageFrom(site: SiteMentions, state: MentionState, after: string | null) {
  const { mentions, next } = await site.page(state, after, PER_PAGE);
  const newer = after === null ? null : toTab(state);
  return { items: mentions, pages: { newer, older: next && `${toTab(state)}&after=${encodeURIComponent(next)}` } };
}

async function openVisits({ machine, choice }: ClientContext): Promise<Lists["visits"]> {
  const { settings } = await loadSite(machine, choice.settings);
  const store = openSiteData("seen-mentions", settings.feedUrl, machine);
  const [held, shown, rejected] = await Promise.all([
    Visits.open(store, "held", machine.now),
    Visits.open(store, "shown", machine.now),
    Visits.open(store, "rejected", machine.now),
  ]);
  return { held, shown, rejected };
}

async function yearPage(c: ClientRequest, context: ClientContext) {
  const now = context.machine.now();
  const mentions = await (await open(context)).since("shown", yearStart(now));
  return c.render(<YearPage weeks={toWeeks(mentions, now)} writers={countWriters(mentions)} />, {
    title: "Mentions of the last year",
  });
}

function open({ choice, machine, ending }: ClientContext): Promise<SiteMentions> {
  return SiteMentions.open(choice, machine, ending);
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
