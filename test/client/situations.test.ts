import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { formatKey } from "../../plugin/keys/key.js";
import type { TwtxtOptions } from "../../plugin/options.js";
import { type Blog, blog } from "../cli/helpers.js";
import { describeWithoutKeychain, environmentOf, KEY_FILE } from "../cli/machine.js";
import { freePort } from "../cli/server.js";
import { builtSite, hostFile } from "../helpers/built-site.js";
import { describeInChromium } from "../helpers/chromium.js";
import { eventually } from "../helpers/eventually.js";
import { loopbackServer } from "../helpers/loopback.js";
import { PAGES } from "../helpers/receiver.js";
import { type ClientSetup, startedClient } from "./client.js";
import { expectAccessible } from "./looks.js";
import { openPage } from "./open-page.js";
import { shownText } from "./visitor.js";

const SEED = new Uint8Array(32).fill(3);
const KEY = publicKeyOf(SEED);
const OTHER_KEY = publicKeyOf(new Uint8Array(32).fill(4));
/** A port without a server. */
const CLOSED = `http://127.0.0.1:${await freePort()}`;
const BUILD_HERE =
  /There is no built site here: .*Change to the folder of your site, and build it: npx @11ty\/eleventy/;
const KEY_MISSING =
  /The private key of kex1\w+ is not on this machine\. If you have its 24 words, type .*keys restore alice@\S+ ?\. If it is in a file, name it with --identity FILE\./;
const BUILD_AGAIN =
  /The last build \(.+\) has no key, but this machine has one for alice@alice\.example\. If the option "key" is "kex1\w+" , build and deploy again\./;
/** Rooms that work without a network and a key. */
const OFFLINE = {
  "/timeline": /Read again Following/,
  "/timeline/following": /You follow no feeds yet\./,
  "/write": /Save as a post/,
  "/health": /Last build .* Node\.js/,
};

function publicKeyOf(seed: Uint8Array): string {
  return formatKey(toSecretKey(seed).publicKey);
}

/** Alice's client: her site is built, and her key is on this machine. */
function alice(options: Partial<TwtxtOptions> = {}, url: string | undefined = CLOSED): ClientSetup & { machine: Blog } {
  const { settings } = builtSite("https://alice.example", { key: KEY, ...options });
  const machine = blog(settings, { "package.json": "{}", ...hostFile({ settings, pages: PAGES }) });
  machine.write(KEY_FILE, formatIdentity(SEED, { address: "alice@alice.example", created: null }));
  chmodSync(join(machine.folder, KEY_FILE), 0o600);
  return { ...clientIn(machine), machine, ...(url !== undefined && { url }) };
}

function clientIn({ folder }: Blog): ClientSetup {
  return { folder, environment: environmentOf(folder) };
}

/** A site whose server sends this response to every request. */
async function answering(status: number, headers: Record<string, string>, body = ""): Promise<ClientSetup> {
  const { url } = await loopbackServer((_, response) => response.writeHead(status, headers).end(body));
  return alice({}, url);
}

function refusing(status: number, detail: string): Promise<ClientSetup> {
  return answering(status, { "content-type": "application/problem+json" }, JSON.stringify({ detail }));
}

interface Situation {
  when: string;
  client(): ClientSetup | Promise<ClientSetup>;
  /** The text that each room shows, by its path. */
  rooms: Readonly<Record<string, RegExp>>;
}

const SITUATIONS: readonly Situation[] = [
  {
    when: "a folder without a site",
    client: () => clientIn(blog(null, { "package.json": "{}" })),
    rooms: {
      "/timeline": BUILD_HERE,
      "/write": BUILD_HERE,
      "/mentions": BUILD_HERE,
      "/messages": /There is no key on this machine\. Create one with eleventy-twtxt keys create ADDRESS/,
      "/health": BUILD_HERE,
    },
  },
  {
    when: "a site of another version of the plugin",
    client: () => clientIn(blog(null, { "package.json": "{}", ".eleventy-twtxt/settings.json": '{"version":1}' })),
    rooms: { "/write": /settings\.json was not written by a build of this version\. Build the site first: npx/ },
  },
  {
    when: "a damaged list of followed feeds",
    client() {
      const client = alice();
      client.machine.write("_data/follow.json", "{");
      return client;
    },
    rooms: { "/timeline": /_data\/follow\.json/, "/health": OFFLINE["/health"] },
  },
  {
    when: "a site without a key",
    client() {
      const { settings } = builtSite("https://alice.example");
      return clientIn(blog(settings, { "package.json": "{}", ...hostFile({ settings, pages: PAGES }) }));
    },
    rooms: {
      ...OFFLINE,
      "/mentions":
        /The site has no key\. Create one with eleventy-twtxt keys create , set it as the option "key", build and deploy\./,
      "/messages": /There is no key on this machine\. Create one with/,
    },
  },
  {
    when: "a key that no build has used",
    client: () => alice({ key: undefined }),
    rooms: {
      ...OFFLINE,
      "/mentions": BUILD_AGAIN,
      "/files":
        /This site was built without blobs: set the option blobs: true if it is not set yet, then build and deploy\./,
    },
  },
  {
    when: "a key that is on another machine",
    client: () => alice({ key: OTHER_KEY }),
    rooms: { ...OFFLINE, "/mentions": KEY_MISSING, "/messages": KEY_MISSING },
  },
  {
    when: "a damaged key file",
    client() {
      const client = alice();
      client.machine.write(KEY_FILE, "damaged");
      return client;
    },
    rooms: { "/mentions": /alice@alice\.example\.key is not an identity file: the key is not 64 bytes of base64\./ },
  },
  {
    when: "a key file that others can read",
    client() {
      const client = alice();
      chmodSync(join(client.machine.folder, KEY_FILE), 0o644);
      return client;
    },
    rooms: { "/messages": /can be read by others on this machine\. Type: chmod 600 / },
  },
  {
    when: "a site that is down",
    client: () => alice(),
    rooms: {
      ...OFFLINE,
      "/mentions": /ECONNREFUSED\. Check that the site is running, or name its address with --url\. Try again/,
      "/messages":
        /ECONNREFUSED\. Check that the site is running, or name its address with --url\. New messages appear/,
      "/messages/outbox": /Outbox/,
    },
  },
  {
    when: "a network that is down",
    client: () => alice({}, "http://alice.invalid"),
    rooms: {
      ...OFFLINE,
      "/mentions": /(ENOTFOUND|EAI_AGAIN)\. Check the network of this machine\./,
      "/messages": /(ENOTFOUND|EAI_AGAIN)\. Check the network of this machine\./,
    },
  },
  {
    when: "a host without endpoints",
    client: () => answering(404, { "content-type": "text/html" }, "<h1>Not found</h1>"),
    rooms: {
      "/mentions": /answers 404, but not in JSON\. Build and deploy the site: on Netlify with its functions/,
      "/messages": /answers 404, but not in JSON\. Build and deploy the site: on Netlify with its functions/,
    },
  },
  {
    when: "a static host",
    async client() {
      const { url } = await loopbackServer((_, response) => response.writeHead(404).end());
      return alice({ host: "static" }, url);
    },
    rooms: {
      ...OFFLINE,
      "/mentions": /built for the host "static" .*Give the plugin the option host: "netlify", or host: "node"/,
      "/messages":
        /Your inbox is looked up there\. If your site has no inbox yet, give it the option key: "kex1\w+", build/,
    },
  },
  {
    when: "mentions that are turned off",
    client: () => alice({ mentions: false }),
    rooms: { "/mentions": /The option mentions: false turns mentions off\. Remove it, build and deploy\./ },
  },
  {
    when: "mentions that another service receives",
    client: () => alice({ webmention: "https://webmention.example/alice" }),
    rooms: { "/mentions": /received at https:\/\/webmention\.example\/alice, so read them there\./ },
  },
  {
    when: "the captive portal of a network",
    client: () => answering(200, { "content-type": "text/html" }, "<h1>Log in</h1>"),
    rooms: { "/mentions": /its answer is not JSON\. Something else answers there: .*login page of a network/ },
  },
  {
    when: "a site at another address",
    client: () => answering(301, { location: "https://www.alice.example/" }),
    rooms: { "/mentions": /redirect\. Name the address that it redirects to with --url/ },
  },
  {
    when: "a key without rights",
    client: () => refusing(403, "This key belongs to no author."),
    rooms: {
      "/mentions":
        /403: This key belongs to no author\. The site has a different key: check its option "key", and deploy\./,
      "/messages":
        /403: This key belongs to no author\. The site has a different key: check its option "key", and deploy\./,
    },
  },
  {
    when: "a wrong clock",
    client: () => answering(401, { date: "Mon, 01 Jan 2001 00:00:00 GMT" }),
    rooms: {
      "/mentions":
        /answers 401, but not in JSON\. The clock of this machine says .*, that of the site 2001-01-01T00:00:00Z: set the/,
      "/messages":
        /answers 401, but not in JSON\. The clock of this machine says .*, that of the site 2001-01-01T00:00:00Z: set the/,
    },
  },
  {
    when: "a rate limit",
    client: () => refusing(429, "Too many requests."),
    rooms: { "/mentions": /429: Too many requests\. That is its rate limit\. Wait a minute, then try again\./ },
  },
  {
    when: "a failing server",
    client: () => answering(502, { "content-type": "text/html" }, "<h1>Bad gateway</h1>"),
    rooms: {
      "/mentions": /answers 502, but not in JSON\. Try again later\. The log of its server says why\./,
      "/messages": /answers 502, but not in JSON\. Try again later\. The log of its server says why\./,
    },
  },
];

describeWithoutKeychain("the client shows what to do", () => {
  it.each(SITUATIONS)("with $when", async ({ client: setup, rooms }) => {
    const client = await startedClient(await setup());
    const cookie = await client.open();
    for (const [path, sentence] of Object.entries(rooms)) {
      const { text } = await client.ask(path, { headers: { cookie } });
      expect(shownText(text).replaceAll("&quot;", '"'), path).toMatch(sentence);
      expect(text, path).toContain('aria-label="Rooms"');
    }
    expect(client.printed, "no stack trace").toEqual([]);
  });

  it("with the title of the room and without an error, if the site needs setup", async () => {
    const client = await startedClient(alice({ key: undefined }));
    const { status, text } = await client.ask("/mentions", { headers: { cookie: await client.open() } });
    expect(status).toBe(409);
    expect(text).toContain("<h1>Mentions</h1>");
    expect(shownText(text)).not.toMatch(/This did not work|Try again/);
  });

  it("shuts down cleanly while a page waits for the site, and sends the page", async () => {
    const silent = await loopbackServer(() => {});
    const client = await startedClient(alice({}, silent.url));
    const cookie = await client.open();
    const page = client.ask("/mentions", { headers: { cookie } });
    await eventually(() => expect(silent.requests).not.toEqual([]));
    await client.close();
    expect((await page).text).toContain("This did not work");
  });
});

describeInChromium("a page that shows what to do", () => {
  it("fits all widths, and axe finds no violations", async () => {
    const client = await startedClient(clientIn(blog(null, { "package.json": "{}" })));
    const tab = await openPage(client, "/messages");
    await tab.getByText("There is no key on this machine.").waitFor();
    await expectAccessible(tab, "what-to-do");
  });
});
