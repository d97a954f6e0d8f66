// plugin/site/routes.ts: table of all endpoints, used by `serve`, the Netlify functions, `doctor` and the API tests.

/** A capability of a site. The options of the site turn each one on or off. */
export type Capability = Extract<(typeof ROUTES)[RouteName], { netlify: string }>["capability"];

/** Requests that share a rate limit. PROTOCOL 6 */
export type RateLimitKind = "mention" | "inbox";

/** An endpoint of a site, on every host. */
export interface SiteRoute<CapabilityName = Capability, FunctionName = EndpointFunction> extends Answers {
  capability: CapabilityName;
  /** The URL of the site's settings that the path belongs to. */
  base: Base;
  /** The function that answers on Netlify: `twtxt-<name>.mjs`. */
  netlify: FunctionName;
}

/** An endpoint of `eleventy-twtxt serve` itself, whatever the options of the site. Its path has no prefix. */
export interface ServerRoute extends Answers {
  capability: null;
}

export type Route = SiteRoute | ServerRoute;

interface Answers {
  /** The path after the base: `/:name` is one segment, `/*` is the base itself and everything below. */
  below: string;
  methods: readonly string[];
  /**
   * The credentials that a request needs: `signed`, a signature with the key of an author or owner; `token`, that of the
   * private feed; `link`, the key in a link of a notification; `signed-to-read` where anyone may write. OPTIONS needs none.
   */
  access: "anyone" | "signed" | "signed-to-read" | "token" | "link";
  /** Counted by the rate limit; absent for no limit. */
  rateLimit?: RateLimitKind;
  /** A file of the site at the same path is served instead. */
  isStaticFirst?: true;
}

/** Fixed bases, from the root of the site. Public blobs are below `shared`. */
export const PATHS = {
  mentionsJson: "/mentions.json",
  mentionsAtom: "/mentions.atom",
  mentionsFeed: "/mentions.txt",
  mentionsApi: "/api/v1/mentions",
  comments: "/comments",
  guestFeeds: "/guests",
  answers: "/answers",
  decisions: "/moderate",
  siteApi: "/api/v1/site",
  timelineJson: "/timeline.json",
  guests: "/.well-known/msg",
  blobs: "/api/v1/blob",
  shared: "/shared",
  webfinger: "/.well-known/webfinger",
  hostMeta: "/.well-known/host-meta",
} as const;

export const BASE_NAMES = ["webmention", "inbox", ...(Object.keys(PATHS) as (keyof typeof PATHS)[])] as const;
export type Base = (typeof BASE_NAMES)[number];

/** The base paths of endpoints, from the root of the site. */
export type Bases = Record<Base, string>;

/** @param options - the two configurable paths */
export function completeBases({ webmention, inbox }: Pick<Bases, "webmention" | "inbox">): Bases {
  return { webmention, inbox, ...PATHS };
}

export type EndpointFunction = Extract<(typeof ROUTES)[RouteName], { netlify: string }>["netlify"];

const READING = ["GET", "HEAD", "OPTIONS"];

/** Anyone may read it. */
const open = { below: "", methods: READING, access: "anyone" } as const;
const mentions = { capability: "mentions", netlify: "mentions-json" } as const;
const api = { capability: "mentions", base: "mentionsApi", access: "signed", netlify: "mentions-api" } as const;
/** Answered by the function of mentions, with its rate limit. */
const comments = { capability: "comments", base: "comments", rateLimit: "mention", netlify: "mention" } as const;
const inbox = { capability: "inbox", base: "inbox", rateLimit: "inbox", netlify: "inbox" } as const;
const blob = { capability: "blobs", base: "blobs", access: "signed", netlify: "blob" } as const;
const site = { capability: "site", base: "siteApi", access: "signed", netlify: "site" } as const;
/** Answered by the function of the site, which each site with a key has. */
const answers = { capability: "answers", base: "answers", netlify: "site" } as const;
const fediverse = { ...open, capability: "fediverse", methods: ["GET", "HEAD"], netlify: "fediverse" } as const;

/** The most mentions on a page of the managed list: those of a year, of usual lengths. */
export const MAX_MANAGED_PAGE = 2000;

/** The first route that matches a path answers. */
export const ROUTES = {
  health: { capability: null, below: "/health", methods: ["GET", "HEAD"], access: "anyone" },
  webmention: {
    ...open,
    ...mentions,
    base: "webmention",
    methods: [...READING, "POST"],
    rateLimit: "mention",
    netlify: "mention",
  },
  mentionsJson: { ...open, ...mentions, base: "mentionsJson" },
  mentionsAtom: { ...open, ...mentions, base: "mentionsAtom" },
  mentionsFeed: {
    capability: "mentions",
    base: "mentionsFeed",
    below: "",
    methods: ["GET", "HEAD"],
    access: "token",
    netlify: "mentions-feed",
  },
  comments: { ...comments, below: "", access: "signed-to-read", methods: ["GET", "OPTIONS", "POST"] },
  comment: { ...comments, below: "/:id", access: "signed", methods: ["DELETE", "OPTIONS", "POST"] },
  guestFeed: {
    ...open,
    capability: "comments",
    base: "guestFeeds",
    below: "/:guest.txt",
    netlify: "mentions-json",
    isStaticFirst: true,
  },
  decision: { ...api, base: "decisions", below: "/:id", methods: ["GET", "POST"], access: "link" },
  mentions: { ...api, below: "", methods: ["GET", "POST", "DELETE"] },
  verifyMentions: { ...api, below: "/verify", methods: ["POST"] },
  importMentions: { ...api, below: "/import", methods: ["POST"] },
  mention: { ...api, below: "/*", methods: ["POST", "DELETE"] },
  siteState: { ...site, below: "", methods: ["GET"] },
  sentMentions: { ...site, below: "/sent", methods: ["GET"] },
  storedKeys: { ...site, below: "/data", methods: ["GET", "POST"] },
  storedValue: { ...site, below: "/data/*", methods: ["GET", "PUT"] },
  answers: { ...answers, below: "", access: "signed", methods: ["GET", "POST", "DELETE"] },
  answerLink: { ...answers, below: "/:id", access: "link", methods: ["GET", "POST"] },
  timelineJson: { ...open, capability: "timeline", base: "timelineJson", netlify: "timeline" },
  inbox: { ...inbox, below: "/:user", access: "signed-to-read", methods: ["GET", "HEAD", "POST", "PUT", "OPTIONS"] },
  message: { ...inbox, below: "/:user/:id", access: "signed", methods: ["DELETE", "OPTIONS"] },
  guest: {
    ...open,
    capability: "guests",
    base: "guests",
    below: "/:guest.json",
    netlify: "guest",
    isStaticFirst: true,
  },
  webfinger: { ...fediverse, base: "webfinger" },
  hostMeta: { ...fediverse, base: "hostMeta" },
  blobs: { ...blob, below: "", methods: READING },
  blob: { ...blob, below: "/*", methods: ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS"] },
  shared: { ...blob, ...open, base: "shared", below: "/*" },
} as const satisfies Record<string, SiteRoute<string, string> | ServerRoute>;

export type RouteName = keyof typeof ROUTES;

export interface RouteMatch {
  name: RouteName;
  route: Route;
  /** The path segments for `:name`, and for `*` as `rest`, as written in the URL. */
  params: Record<string, string>;
}

export interface RoutedSite {
  /** Absolute, with the path prefix. */
  urls: Bases;
  isReceiver: boolean;
  /** Those who may sign requests. */
  authors: readonly object[];
  timeline: object | null;
  mentions: { comments?: { mail: boolean } | false | undefined };
  inbox: { guests: { mail?: boolean } | null } | null;
  blobs: object | null;
  fediverse?: string;
}

export function listCapabilities(site: Omit<RoutedSite, "urls">): Capability[] {
  const { isReceiver, authors, timeline, mentions, inbox, blobs, fediverse } = site;
  const hasComments = isReceiver && authors.length > 0 && Boolean(mentions.comments);
  const isOn: Record<Capability, boolean> = {
    mentions: isReceiver,
    timeline: timeline !== null,
    comments: hasComments,
    answers:
      (hasComments && mentions.comments !== false && mentions.comments?.mail === true) || inbox?.guests?.mail === true,
    inbox: inbox !== null,
    guests: inbox !== null && inbox.guests !== null,
    blobs: blobs !== null,
    site: authors.length > 0,
    fediverse: fediverse !== undefined,
  };
  return (Object.keys(isOn) as Capability[]).filter((capability) => isOn[capability]);
}

/**
 * @returns a function that finds the route of a normalised path, as `URL.pathname` has it; `null` for the site's own files.
 *   Other paths below a base have the last route there without params: its handler answers 404.
 */
export function createRouter(site: RoutedSite): (path: string) => RouteMatch | null {
  const { urls } = site;
  const capabilities = listCapabilities(site);
  const routes = Object.entries<Route>(ROUTES)
    .filter(([, { capability }]) => capability === null || capabilities.includes(capability))
    .map(([name, route]) => ({
      name: name as RouteName,
      route,
      pattern: toPattern(basePath(urls, route) + route.below),
      folder: route.capability === null || route.below === "" ? null : `${basePath(urls, route)}/`,
    }));
  return (path) => {
    for (const { name, route, pattern } of routes) {
      const match = pattern.exec(path);
      if (match) return { name, route, params: { ...match.groups } };
    }
    const last = routes.findLast(({ folder }) => folder !== null && path.startsWith(folder));
    return last ? { name: last.name, route: last.route, params: {} } : null;
  };
}

/** `Cache-Control` of answers that set none themselves. */
export function toCacheControl({ access }: Route): string {
  return access === "anyone" ? "no-store" : "private, no-store";
}

/** The path prefix of a site, such as `/blog`; empty for a site at the root of its host. */
export function readPrefix({ urls }: Pick<RoutedSite, "urls">): string {
  return new URL(urls.shared).pathname.slice(0, -PATHS.shared.length);
}

/** The routes that functions on Netlify answer. @param capabilities - default: all */
export function siteRoutes(capabilities?: readonly Capability[]): SiteRoute[] {
  const routes = Object.values<Route>(ROUTES).filter((route) => route.capability !== null);
  return capabilities ? routes.filter(({ capability }) => capabilities.includes(capability)) : routes;
}

/** The path patterns at which a function on Netlify answers, without those that a pattern with `/*` covers. */
export function listPaths(netlify: EndpointFunction, bases: Bases, capabilities: readonly Capability[]): string[] {
  const paths = siteRoutes(capabilities)
    .filter((route) => route.netlify === netlify)
    .map(({ base, below }) => bases[base] + below);
  const isCovered = (path: string) =>
    paths.some((other) => other !== path && other.endsWith("/*") && path.startsWith(other.slice(0, -1)));
  return paths.filter((path) => !isCovered(path));
}

function basePath(urls: Bases, route: Route): string {
  return route.capability === null ? "" : new URL(urls[route.base]).pathname;
}

function toPattern(path: string): RegExp {
  const source = path
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/:(\w+)/g, "(?<$1>[^/]+)")
    .replace(/\/\*$/, "(?:/(?<rest>.*))?");
  return new RegExp(`^${source}$`);
}

/** Matches a blob key within a text. `.` and `..` are not keys, because they have a meaning in URLs. PROTOCOL 4 */
export const BLOB_KEY = /(?!\.{1,2}(?![\w.-]))[A-Za-z0-9._-]{1,128}/;
const WHOLE_KEY = new RegExp(`^${BLOB_KEY.source}$`);

export function isBlobKey(text: string): boolean {
  return WHOLE_KEY.test(text);
}

/** @param sharedUrl - the URL below which public blobs are served */
export function formatSharedUrl(sharedUrl: string, { owner, key }: { owner: string; key: string }): string {
  return `${sharedUrl}/${owner}/${key}`;
}
