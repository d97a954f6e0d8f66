// test/client/moderated-site.ts: Alice's blog as `serve` runs it, with mentions by Bob, and her client.
import { mentionsRoom } from "../../plugin/client/mentions/mentions-room.js";
import { writeRoom } from "../../plugin/client/write/write-room.js";
import { type Blog, dataEnvironment } from "../cli/helpers.js";
import { fileIn, KEY_FILE, PAPER_FILE, PAPER_KEX } from "../cli/machine.js";
import { freePort, serve, site } from "../cli/server.js";
import { FEED, type FeedServer, feedServer, PAGE, PAGES, settingsOf } from "../helpers/receiver.js";
import { type ClientSetup, type ClientUnderTest, startedClient } from "./client.js";

export interface ModeratedSite {
  bob: FeedServer;
  blog: Blog;
  client: ClientUnderTest;
  /** Starts another client. */
  setup: ClientSetup & { folder: string };
  /** Sends a mention from Bob's twt of this time. */
  send(timestamp: string): Promise<number>;
  /** Sends an unsigned comment. */
  comment(text: string, name: string): Promise<number>;
  /** The sources of the public list. */
  shown(): Promise<string[]>;
  /** Ends the server of the site. */
  stop(): Promise<unknown>;
}

/**
 * @param twts - Bob's twts by their times, each sent as a mention
 * @param moderate - whether mentions wait for Alice's approval
 */
export async function moderatedSite(twts: Record<string, string>, moderate = true): Promise<ModeratedSite> {
  const bob = await feedServer(
    Object.fromEntries(Object.entries(twts).map(([at, text]) => [at, `@<alice ${FEED}> ${text}`])),
  );
  const blog = site();
  const environment = { ...dataEnvironment(blog.folder), DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" };
  fileIn(blog, KEY_FILE, PAPER_FILE);
  const settings = settingsOf({
    key: PAPER_KEX,
    mentions: { moderate, comments: true, limits: { shownPerHost: 100 } },
  });
  const { folder } = site(settings, { ...PAGES, titles: { [PAGE]: "Quinces" } });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await serve({ folder }, [
    "--allow-private-host",
    bob.host,
    "--port",
    String(port),
    "--url",
    url,
    "--rate-limit",
    "0",
  ]);
  const send = async (timestamp: string) => {
    const form = new URLSearchParams({ source: bob.twt(timestamp), target: FEED });
    return (await fetch(`${url}/webmention`, { method: "POST", body: form })).status;
  };
  const comment = async (text: string, name: string) => {
    const body = JSON.stringify({ target: PAGE, text, name });
    const headers = { "content-type": "application/json" };
    return (await fetch(`${url}/comments`, { method: "POST", headers, body })).status;
  };
  for (const timestamp of Object.keys(twts)) await send(timestamp);
  const shown = async () => {
    const list = Object(await (await fetch(`${url}/mentions.json`)).json());
    return (list.mentions as { source: string }[]).map(({ source }) => source);
  };
  const setup = { rooms: [mentionsRoom, writeRoom], folder, environment, url };
  return { bob, blog, setup, client: await startedClient(setup), send, comment, shown, stop: server.end };
}
