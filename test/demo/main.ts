// test/demo/main.ts: `npm run demo`: two blogs on this machine exchange mentions, messages and files, readers write to one of them and comment there, answers come home from other networks, and an impostor fails.
import { randomBytes } from "node:crypto";
import { parseFeed } from "../../plugin/index.js";
import { runAfterEachHooks } from "../helpers/hooks.js";
import { type Blog, blog, openClient, readLink, removeBlogs, serve } from "./blog.js";
import { DemoClock } from "./clock.js";
import { comments } from "./comments.js";
import { contactPage } from "./contact-page.js";
import { files } from "./files.js";
import { fileOf, letters, makeAddress } from "./letters.js";
import { type MailServer, mailServer } from "./mail.js";
import { type NetlifyPlace, serveAtNetlify } from "./netlify.js";
import { type Networks, networks, startNetworks } from "./networks.js";
import { ctrlC, endAll, freePorts, type Running, until } from "./process.js";
import { check, show, tell } from "./telling.js";

const isNetlify = process.argv.includes("--netlify");
/** Whether both blogs stay up after the story. */
const isKept = process.argv.includes("--keep");
const TOKEN = randomBytes(16).toString("hex");
const NOTE = "Yours were earlier than mine";

/** A server on this machine. */
type Neighbour = Pick<Blog, "url">;

/** The host that serves a blog. */
interface Host {
  start(neighbours: readonly Neighbour[], environment: Record<string, string>): Promise<void>;
  /** Runs the work that follows a deploy. */
  deployed(): Promise<void>;
  /** Runs the hourly work of the blog now. */
  anHourLater(): Promise<void>;
}

try {
  await demo();
} finally {
  await endAll();
  removeBlogs();
}

async function demo(): Promise<void> {
  const mail = await mailServer();
  const clock = new DemoClock();
  try {
    const [alicePort = 0, bobPort = 0] = await freePorts(2);
    const alice = blog("alice", alicePort, isNetlify ? "netlify" : "node", {
      "posts/quinces.md": "---\ntitle: Quinces\ndate: 2026-10-04T07:12:30Z\n---\nThe first quinces are in.\n",
    });
    const bob = blog("bob", bobPort, "node", {
      "posts/hello.md": "---\ndate: 2026-10-03T08:00:00Z\n---\nHello, this is Bob.\n",
    });
    const hosts = { alicesHost: isNetlify ? netlifyHost(alice) : nodeHost(alice), bobsHost: nodeHost(bob) };
    await story({ alice, bob, mail, clock, ...hosts, ...(await startNetworks()) });
    console.log("\nThe demo is complete.");
    if (isKept) await keep({ blog: alice, key: "second" }, { blog: bob, key: "first" });
  } finally {
    await mail.end();
    await runAfterEachHooks();
    clock.remove();
  }
}

/**
 * Keeps the blogs up until Ctrl-C, each with its web client.
 *
 * @param authors - with the names of their newest keys
 */
async function keep(...authors: { blog: Blog; key: string }[]): Promise<void> {
  const blogs = authors.map(({ blog }) => blog);
  tell("Alice and Bob each open the web client of their own blog.");
  const clients: Running[] = [];
  for (const { blog, key } of authors) {
    clients.push(await openClient(blog, ["--identity", fileOf(blog, key), ...neighbours(...blogs)]));
  }

  tell("Look around. Ctrl-C stops the blogs and their clients, and removes them with their keys.");
  for (const [at, { nick, url, folder }] of blogs.entries()) {
    const pages = ["/", "/mentions/", "/contact/", "/twtxt.txt"].map((path) => url + path);
    const client = clients[at];
    const link = client ? readLink(client) : "";
    console.log(`\n${nick}: ${pages.join("  ")}\n  files   ${folder}\n  client  ${link}`);
  }
  console.log(`
Open a client by its link, which works once: read, answer, moderate and write as that author.
For another link, open the address of the client without the token. The new link appears here.`);
  await ctrlC();
  await Promise.all(clients.map((client) => client.end()));
}

interface Parts extends Networks {
  alice: Blog;
  bob: Blog;
  alicesHost: Host;
  bobsHost: Host;
  mail: MailServer;
  clock: DemoClock;
}

async function story({ alice, bob, alicesHost, bobsHost, mail, clock, mastodon, bluesky }: Parts): Promise<void> {
  const secrets = { TWTXT_MENTIONS_TOKEN: TOKEN, TWTXT_SMTP_URL: mail.url, TWTXT_MAIL_TO: "alice@alice.example" };

  tell("Alice and Bob each have a blog with an address. Both are built and served on this machine.");
  await makeAddress(alice);
  await makeAddress(bob);
  alice.configure({ blobs: true, mentions: { comments: true } });
  await alice.build();
  const accounts = { ...mastodon.environment, ...bluesky.environment };
  await alicesHost.start([bob, mastodon, bluesky], { ...secrets, ...accounts });
  await bob.build();
  await bobsHost.start([alice], {});

  tell("Bob writes a note that mentions Alice. It is not published yet, so no mention is sent.");
  await bob.type(["eleventy-twtxt", "post", `@<alice ${alice.feedUrl}> ${NOTE}, weren't they?`]);
  await bob.type(["eleventy-twtxt", "send", "--dry-run", "--store", "demo-store", ...neighbours(alice, bob)]);

  tell("He publishes it.");
  await bob.build();
  show(`${bob.url}/twtxt.txt`, await textOf(bob.feedUrl));

  tell("His site sends the mention automatically. Her site verifies it in his feed, and stores it.");
  await bobsHost.deployed();
  const list = `${alice.url}/mentions.json`;
  await until(`${list} has the mention`, async () => (await textOf(list)).includes(NOTE));
  show(list, JSON.stringify(JSON.parse(await textOf(list)), null, 2));

  tell("Her next build adds it to a page of her site.");
  await alice.build();
  const page = `${alice.url}/mentions/`;
  await until(`${page} has the mention`, async () => (await textOf(page)).includes(NOTE));
  show(page, part(await textOf(page)));

  tell("It is also in her private feed of mentions, which any twtxt client can follow.");
  const notices = await textOf(`${alice.url}/mentions.txt?token=${TOKEN}`);
  check(
    parseFeed(notices).twts.some(({ text }) => text.includes(NOTE)),
    "the private feed has the mention",
  );
  check((await fetch(`${alice.url}/mentions.txt`)).status === 401, "the private feed needs the token");
  show(`${alice.url}/mentions.txt?token=...`, notices);

  tell("A mail notifies her.");
  await alicesHost.anHourLater();
  await until("the mail has arrived", async () => mail.mails.some((text) => text.includes("bob")));
  show("mail", mail.mails.join("\n"));

  tell("Everything runs a second time. Nothing is sent twice.");
  await bob.build();
  await bobsHost.deployed();
  await bobsHost.anHourLater();
  await alicesHost.anHourLater();
  const { mentions } = JSON.parse(await textOf(list)) as { mentions: unknown[] };
  check(mentions.length === 1, "there is one mention");
  check(mail.mails.length === 1, "there is one mail");

  await letters(alice, bob);
  await contactPage(alice, "second");
  await comments(alice, "second");
  await networks(alice, { mastodon, bluesky, clock, key: "second", deployed: alicesHost.deployed });
  await files(alice, bob, "second");
}

/** `eleventy-twtxt serve`. It detects new builds, and runs its hourly work also at the start. */
function nodeHost(blog: Blog): Host {
  let restart = async () => {};
  return {
    async start(others, environment) {
      const args = neighbours(blog, ...others);
      let running = await serve(blog, args, environment);
      restart = async () => {
        await running.end();
        running = await serve(blog, args, environment);
      };
    },
    async deployed() {},
    anHourLater: () => restart(),
  };
}

/** Netlify's local server. */
function netlifyHost(blog: Blog): Host {
  let place: NetlifyPlace;
  const runScheduled = () => place.invoke("twtxt-scheduled");
  return {
    async start(others, environment) {
      const hosts = { TWTXT_ALLOW_PRIVATE_HOSTS: [blog, ...others].map(({ url }) => new URL(url).host).join(" ") };
      place = await serveAtNetlify(blog, { ...environment, ...hosts });
      blog.takenOver = place.reloaded;
    },
    // The local server has no deploys, so the scheduled function does this work, as it does after a lost deploy event.
    deployed: runScheduled,
    anHourLater: runScheduled,
  };
}

function neighbours(...servers: Neighbour[]): string[] {
  return servers.flatMap(({ url }) => ["--allow-private-host", new URL(url).host]);
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
  return response.text();
}

function part(page: string): string {
  const [, body = page] = /<body>([\s\S]*?)<\/body>/.exec(page) ?? [];
  return body.trim();
}
