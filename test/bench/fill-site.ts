// test/bench/fill-site.ts: a site whose store is full, and the data of its author's machine.
import { hash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { knownBlobs } from "../../plugin/author/blobs/blob-site.js";
import { ReadMarks } from "../../plugin/author/messages/read-marks.js";
import { signProof } from "../../plugin/blobs/proof.js";
import { StoredBlobs } from "../../plugin/blobs/serve/stored.js";
import { discoveryFiles } from "../../plugin/eleventy/output/feed-files.js";
import { toSecretKey } from "../../plugin/keys/ed25519.js";
import { formatIdentity } from "../../plugin/keys/identity.js";
import { formatKey, type SecretKey } from "../../plugin/keys/key.js";
import { type FinishedRecord, feedFolder, toLedgerKey } from "../../plugin/mentions/send/ledger-records.js";
import { StoredMessages } from "../../plugin/messages/inbox/stored.js";
import { formatMessage } from "../../plugin/messages/plaintext.js";
import { seal } from "../../plugin/messages/sealing.js";
import { hostSettings } from "../../plugin/site/site.js";
import { SqliteStore } from "../../plugin/store/sqlite.js";
import { builtSite, hostFile, settingsFile } from "../helpers/built-site.js";
import { freePort } from "../helpers/ports.js";
import { wordsFrom } from "./blog.js";
import { prepareStore } from "./received.js";

/** The senders of the messages have their inboxes at the same site, where they are looked up. */
const SENDERS = 20;
const UNREAD = 100;
/** The seed of the author's key. */
const ALICE = Buffer.alloc(32, 1);
const AT_ONCE = 200;
const MINUTE_MS = 60_000;

export interface FilledSite {
  folder: string;
  amounts: { messages: number; blobs: number; mentions: number; sent: number };
  /** In the URL of the site, where `serve` has to listen. */
  port: number;
  /** The folder for `--store`. */
  store: string;
  /** Of the author's commands. */
  environment: Record<string, string>;
  /** The address of one of the senders. */
  sender: string;
  /** An id. */
  oldestMessage: string;
  /** A key. */
  oldestBlob: string;
}

/** Fills the store of a site, and the data folder of its author, through the interfaces of the stores. */
export async function fillSite(
  entry: string,
  { folder, amounts, stop }: { folder: string; amounts: FilledSite["amounts"]; stop: AbortSignal },
): Promise<FilledSite> {
  const port = await freePort();
  const domain = `127.0.0.1:${port}`;
  const url = `http://${domain}`;
  const address = `alice@${domain}`;
  const fileName = address.replaceAll(":", "+");
  const alice = toSecretKey(ALICE);
  const owner = formatKey(alice.publicKey);
  const senders = Array.from({ length: SENDERS }, (_, number) => toSecretKey(Buffer.alloc(32, number + 2)));
  const built = builtSite(url, {
    key: owner,
    authors: senders.map(({ publicKey }, number) => ({ user: `bob${number}`, key: formatKey(publicKey) })),
    inbox: { messages: 100_000, megabytes: 10_000 },
    blobs: { count: 100_000, megabytes: 10_000 },
    mentions: { pages: false, everyHours: 24, rebuild: { perDay: 0, perMonth: 0 } },
  });
  await writeSite(folder, built);
  writeFiles(folder, {
    [`data/eleventy-twtxt/keys/${fileName}.key`]: formatIdentity(ALICE, { address, created: null }),
  });

  const root = join(folder, "store");
  mkdirSync(root);
  await prepareStore(entry, { folder: root, count: amounts.mentions, runs: 0, stop });
  const store = new SqliteStore(root);
  const messages = await fillInbox(store, { alice, senders, domain }, amounts.messages);
  await fillLedger(store, built.settings.feedUrl, amounts.sent);
  await fillFollowers(store);
  const environment = { XDG_DATA_HOME: join(folder, "data") };
  const machine = { environment, folder, now: Date.now, say: () => {}, ended: () => new Promise<void>(() => {}) };
  const oldestBlob = await fillBlobs(store, knownBlobs({ origin: url, owner }, machine), alice, amounts.blobs);
  const authorStore = new SqliteStore(join(folder, "data/eleventy-twtxt/messages", fileName));
  await new ReadMarks(authorStore).add(messages.slice(0, -UNREAD));
  store.close();
  authorStore.close();
  const [oldestMessage = ""] = messages;
  return { folder, amounts, port, store: root, environment, sender: `bob0@${domain}`, oldestMessage, oldestBlob };
}

async function writeSite(folder: string, { settings, urls }: ReturnType<typeof builtSite>): Promise<void> {
  const pages = { feeds: [settings.feedUrl], pages: [], twts: [] };
  const discovery = await discoveryFiles(urls.inboxes());
  writeFiles(folder, {
    "_site/index.html": "home",
    "package.json": "{}",
    ...settingsFile(settings),
    ...hostFile({ settings: hostSettings(settings), pages }),
    ...Object.fromEntries(discovery.map(({ path, content }) => [join("_site", path), content])),
  });
}

function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content, { mode: 0o600 });
  }
}

async function inBatches(count: number, work: (number: number) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - start) }, (_, at) => start + at);
    await Promise.all(numbers.map(work));
  }
}

async function fillInbox(
  store: SqliteStore,
  { alice, senders, domain }: { alice: SecretKey; senders: SecretKey[]; domain: string },
  count: number,
): Promise<string[]> {
  const stored = new StoredMessages(store, Date.now);
  const first = Date.now() - count * MINUTE_MS;
  const ids: string[] = [];
  await inBatches(count, async (number) => {
    const sender = senders[number % SENDERS];
    if (!sender) return;
    const created = first + number * MINUTE_MS;
    const time = `${new Date(created).toISOString().slice(0, 19)}Z`;
    const text = wordsFrom(number + 1)(10 + (number % 60));
    const plaintext = formatMessage({ time, from: `bob${number % SENDERS}@${domain}`, text });
    const bytes = seal(Buffer.from(plaintext), { sender, recipients: [alice.publicKey] });
    const id = hash("sha256", bytes);
    ids[number] = id;
    await stored.keep("alice", { created, id }, bytes);
  });
  return ids;
}

async function fillBlobs(
  store: SqliteStore,
  known: ReturnType<typeof knownBlobs>,
  alice: SecretKey,
  count: number,
): Promise<string> {
  const owner = formatKey(alice.publicKey);
  const first = Date.now() - count * MINUTE_MS;
  let oldest = "";
  await inBatches(count, async (number) => {
    const at = first + number * MINUTE_MS;
    const now = () => at;
    const blobs = new StoredBlobs({ store, now, log: () => {} });
    const bytes = Buffer.from(wordsFrom(number + 1)(100));
    const sha256 = hash("sha256", bytes);
    const key = sha256;
    if (number === 0) oldest = key;
    const metadata = { type: "text/plain", filename: `notes-${number}.txt`, isPublic: number % 2 === 0 };
    const created = new Date(at).toISOString();
    const proof = signProof({ owner, key, size: bytes.length, sha256, ...metadata }, created, alice.sign);
    async function* chunks() {
      yield bytes;
    }
    const contents = await blobs.contents.write({ owner, key, size: bytes.length }, chunks(), () => sha256);
    const nonce = { keyid: owner, nonce: String(number), expires: 1 };
    const change = async () => ({ contents, metadata: { ...metadata, properties: proof } });
    await blobs.update(key, nonce, change, { mayBeRefused: false });
    await known.record({ key, created, sha256, isDeleted: false });
  });
  return oldest;
}

async function fillLedger(store: SqliteStore, feedUrl: string, count: number): Promise<void> {
  const first = Date.now() - count * MINUTE_MS;
  await inBatches(count, async (number) => {
    const at = first + number * MINUTE_MS;
    const timestamp = `${new Date(at).toISOString().slice(0, 19)}Z`;
    const pair = hash("sha256", `pair ${number}`).slice(0, 32);
    const text = hash("sha256", `text ${number}`).slice(0, 16);
    const target = `https://blog-${number % 500}.example/twtxt.txt`;
    const mention = { pair, timestamp, instant: timestamp, nick: "bob", target, text, subject: null, isLink: false };
    const record: FinishedRecord = {
      ...mention,
      ...{ source: `${feedUrl}#:~:text=${timestamp}`, endpoint: `${target}/webmention`, status: 201, why: null, at },
    };
    const key = `${feedFolder(feedUrl)}/${toLedgerKey(mention, "sent")}`;
    await store.put(key, Buffer.from(JSON.stringify(record)));
  });
}

async function fillFollowers(store: SqliteStore): Promise<void> {
  const followers = Array.from({ length: 1000 }, (_, number) => ({
    nick: `reader${number}`,
    url: `https://reader-${number}.example/twtxt.txt`,
    client: "yarnd/0.15.1",
    firstSeen: "2026-01-01T00:00:00Z",
    lastSeen: "2026-11-01T00:00:00Z",
  }));
  await store.put("followers", Buffer.from(JSON.stringify({ followers })));
}
