import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deploySucceeded, scheduled } from "../../netlify/functions/jobs.js";
import { mentions } from "../../netlify/functions/mentions.js";
import { listFunctions } from "../../plugin/eleventy/output/netlify-functions.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import { formatIdentity, parseIdentity } from "../../plugin/keys/identity.js";
import { completeBases, siteRoutes } from "../../plugin/site/routes.js";
import type { HostSettings, SitePages } from "../../plugin/site/site.js";
import type { BlobsSite } from "../helpers/blobs-server.js";
import { type LoopbackServer, loopbackServer } from "../helpers/loopback.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { telephone } from "../helpers/telephone.js";

const PRODUCTION = { deploy: { context: "production" } };
const PREVIEW = { deploy: { context: "deploy-preview" } };
/** Netlify's local tools do not set a deploy context. */
const LOCAL = { deploy: { context: "" } };
const WRITTEN = "2026-01-02T03:04:05Z";

let blobs: BlobsSite;
let bob: LoopbackServer;
let settings: HostSettings;
let pages: SitePages;

beforeEach(async () => {
  for (const method of ["error", "log"] as const) vi.spyOn(console, method).mockImplementation(() => {});
  blobs = await netlifyBlobs();
  ({ settings, pages } = siteOf("http://localhost:8888"));
  bob = await loopbackServer((_request, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(`# nick = bob\n\n${WRITTEN}\t@<alice ${settings.feedUrl}> Hello!\n`);
  });
  vi.stubEnv("TWTXT_ALLOW_PRIVATE_HOSTS", bob.host);
  vi.stubEnv("TWTXT_MENTIONS_TOKEN", "a-token-of-enough-letters-and-digits");
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const get = (path: string) => new Request(`http://localhost:8888${path}`);
const mentioned = () =>
  new Request(settings.urls.webmention, {
    method: "POST",
    body: new URLSearchParams({ source: `${bob.url}/twtxt.txt#:~:text=${WRITTEN}`, target: settings.feedUrl }),
  });
const stores = () => [...new Set(blobs.requests.map((asked) => / ([\w-]+)/.exec(asked)?.[1]))];

describe("the functions of a site with all capabilities", () => {
  const everything = siteOf("http://localhost:8888", {
    key: "kex132yw8ht5p8cetl2jmvknewjawt9xwzdlrk2pyxlnwjyqrdq0dawqqph077",
    mentions: { comments: { mail: true } },
    timeline: true,
    follow: [{ nick: "bob", url: "https://bob.example/twtxt.txt" }],
    blobs: true,
    fediverse: "@alice@mastodon.example",
  });
  const bases = completeBases({ webmention: "/webmention", inbox: "/inbox" });
  const functions = listFunctions(everything.settings, { bases, href: (path) => path });

  it("have a handler for each route, whichever capability it belongs to", async () => {
    const paths = functions.filter(({ paths }) => paths.length > 0);
    expect(paths.map(({ name }) => name).sort()).toEqual(
      [...new Set(siteRoutes().map(({ netlify }) => netlify))].sort(),
    );
    for (const { module, factory, paths: routes } of paths) {
      const { [factory]: create } = await import(`../../netlify/functions/${module}.ts`);
      const answer = create(everything.settings, everything.pages);
      for (const route of routes) {
        const path = route.replace(/:user/, "alice").replace(/:\w+|\*/, "0".repeat(64));
        const { status } = await answer(new Request(`http://localhost:8888${path}`, { method: "PATCH" }), PRODUCTION);
        // A missing handler would be 404.
        expect([`${path} 401`, `${path} 405`]).toContain(`${path} ${status}`);
      }
    }
  });

  it("have no more rate limits than the free plan", () => {
    expect(functions.flatMap(({ name, config }) => (config.rateLimit ? [name] : []))).toEqual(["inbox", "mention"]);
  });
});

describe("the store of a function", () => {
  it("differs between production, previews and netlify dev", async () => {
    await mentions(settings, pages)(get("/mentions.json"), PRODUCTION);
    expect(stores()).toEqual(["twtxt"]);
    await mentions(settings, pages)(get("/mentions.json"), PREVIEW);
    expect(stores()).toEqual(["twtxt", "twtxt-preview"]);
    vi.stubEnv("NETLIFY_LOCAL", "true");
    await mentions(settings, pages)(get("/mentions.json"), LOCAL);
    expect(stores()).toEqual(["twtxt", "twtxt-preview", "twtxt-local"]);
  });
});

describe("a source on a private host", () => {
  it("is requested under netlify dev if the host is allowed", async () => {
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("NETLIFY_LOCAL", "true");
    const answer = await mentions(settings, pages)(mentioned(), LOCAL);
    expect(answer.status).toBe(200);
    const list = await mentions(settings, pages)(get("/mentions.json"), LOCAL);
    expect(await list.json()).toMatchObject({ mentions: [{ target: settings.feedUrl }] });
    expect(bob.requests).toEqual(["/twtxt.txt"]);
  });

  it.each([
    ["production", PRODUCTION, { NETLIFY_DEV: "true", NETLIFY_LOCAL: "true" }],
    ["a preview", PREVIEW, {}],
    ["netlify serve", LOCAL, { NETLIFY_LOCAL: "true" }],
  ])("400 address-refused: is not requested in %s", async (_place, context, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const answer = await mentions(settings, pages)(mentioned(), context);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: "address-refused" });
    expect(bob.requests).toEqual([]);
  });
});

describe("a mention on Netlify", () => {
  it("notifies the owner after the response, while waitUntil keeps the function alive", async () => {
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("NETLIFY_LOCAL", "true");
    const phone = await telephone();
    vi.stubEnv("TWTXT_WEBHOOK_URL", phone.url);
    const release = phone.hold();
    const later: Promise<void>[] = [];
    const context = { ...LOCAL, waitUntil: (work: Promise<void>) => void later.push(work) };
    const answer = await mentions(settings, pages)(mentioned(), context);
    expect(answer.status).toBe(200);

    let isOver = false;
    const work = Promise.all(later).then(() => {
      isOver = true;
    });
    await expect.poll(() => phone.notes).toEqual([expect.stringContaining("Hello!")]);
    expect(isOver).toBe(false);
    release();
    await work;
  });
});

describe("a preview", () => {
  it("has none of the owner's secrets: 404 for the private feed, which is 401 in production", async () => {
    expect((await mentions(settings, pages)(get("/mentions.txt"), PRODUCTION)).status).toBe(401);
    expect((await mentions(settings, pages)(get("/mentions.txt"), PREVIEW)).status).toBe(404);
  });

  it("sends no mentions after its deploy", async () => {
    await deploySucceeded(settings, pages)({ deploy: { context: "deploy-preview", publishedAt: WRITTEN } });
    expect(blobs.requests).toEqual([]);
  });
});

describe("a production deploy", () => {
  it("sends its mentions once it is published", async () => {
    const handler = deploySucceeded(settings, pages);
    await handler({ deploy: { context: "production", publishedAt: null } });
    expect(blobs.requests).toEqual([]);
    await handler({ deploy: { context: "production", publishedAt: WRITTEN } });
    expect(stores()).toEqual(["twtxt"]);
  });
});

describe("a signed request by the author", () => {
  const author = parseIdentity(
    formatIdentity(Buffer.alloc(32, 1), { address: "alice@alice.example", created: WRITTEN }),
    "alice",
  );
  const status = async (authority: string, context: typeof LOCAL, siteUrl = "https://alice.example") => {
    const site = siteOf(siteUrl, { key: author.publicKey });
    const url = `${authority}/api/v1/mentions`;
    const headers = signRequest({ method: "GET", url }, author, Date.now());
    return (await mentions(site.settings, site.pages)(new Request(url, { headers }), context)).status;
  };

  it("must be signed for the site's URL in production", async () => {
    vi.stubEnv("URL", "https://other.example");
    expect(await status("https://alice.example", PRODUCTION)).toBe(200);
    expect(await status("https://other.example", PRODUCTION)).toBe(401);
  });

  it("must be signed for the local server's URL under netlify dev", async () => {
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("URL", "http://localhost:8888");
    expect(await status("http://localhost:8888", LOCAL)).toBe(200);
    expect(await status("https://alice.example", LOCAL)).toBe(401);
  });

  it("must be signed for the URL of a site that was built for this machine", async () => {
    vi.stubEnv("NETLIFY_DEV", "true");
    vi.stubEnv("URL", "http://localhost:8888");
    expect(await status("http://127.0.0.1:8888", LOCAL, "http://127.0.0.1:8888")).toBe(200);
  });
});

describe("the schedule", () => {
  it("runs for production, even if Netlify's context does not name production", async () => {
    await scheduled(settings, pages)(get("/"), LOCAL);
    expect(stores()).toEqual(["twtxt"]);
  });

  it("sends mentions under netlify dev for a site with a loopback URL, and not for a site with a public one", async () => {
    vi.stubEnv("NETLIFY_LOCAL", "true");
    const real = siteOf("https://alice.example");
    await scheduled(real.settings, real.pages)(get("/"), LOCAL);
    expect(blobs.requests).toEqual([]);
    await scheduled(settings, pages)(get("/"), LOCAL);
    expect(stores()).toEqual(["twtxt-local"]);
  });
});
