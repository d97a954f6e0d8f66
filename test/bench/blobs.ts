// test/bench/blobs.ts: blob uploads and downloads with `eleventy-twtxt serve`, a plain file server and versitygw.
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { join } from "node:path";
import { memoryOf, type Raise } from "./blob-memory.js";
import { type Rate, ratesOf, WORKS, type Work } from "./blob-rates.js";
import { newOwner, type Owner, plainServer, s3Server, serveServer, withServers } from "./blob-servers.js";
import { SITE_URL } from "./served-site.js";
import { type Aim, median, type Part, ratio } from "./table.js";

const STEPS = { put: "put", get: "get by the owner", shared: "get at the shared URL" } as const;
const SERVERS = ["plain", "serve", "versitygw"] as const;

/** The number of signatures in a block. */
const CHECK_BLOCK = 200;

/** @param folder - is created */
export async function measureBlobs(
  entry: string,
  { folder, rounds, stop }: { folder: string; rounds: number; stop: AbortSignal },
): Promise<Part> {
  const owner = await newOwner(entry);
  const starts = (name: string) => [
    () => plainServer(join(folder, name, "plain"), stop),
    () => serveServer(entry, { folder: join(folder, name, "served"), owner, stop }),
  ];
  const rates = await withServers([...starts("rates"), s3Server], (servers) => ratesOf(servers, rounds, stop));
  const raises = process.platform === "linux" ? await memoryOf(starts("memory"), Math.ceil(rounds / 2)) : null;
  const checks = await checksOf(entry, owner, rounds);
  return {
    title: `Putting and getting blobs, median of ${rounds}`,
    rows: [
      ["", ...SERVERS.flatMap((server) => [`${server}, in 1 s`, "MB/s", "ratio"])],
      ...WORKS.flatMap((work) => Object.keys(STEPS).map((step) => rowOf(rates, work, step as keyof typeof STEPS))),
    ],
    aims: [...ratesAims(rates), ...(raises ? memoryAims(raises) : []), checksAim(checks)],
    note: NOTE,
    figures: { rates, raises, checks },
  };
}

const NOTE =
  "Files are read from the system's cache. serve and the plain server sync a file to the disk before they respond. versitygw listens on a Unix socket.";

function rowOf(rates: readonly Rate[], work: Work, step: keyof typeof STEPS): string[] {
  const plain = rateIn(rates, { work, step, server: "plain" });
  const cells = SERVERS.flatMap((server) => {
    const rate = rateIn(rates, { work, step, server });
    if (Number.isNaN(rate)) return ["", "", ""];
    return [rate.toFixed(rate < 100 ? 1 : 0), ((rate * work.bytes) / 1e6).toFixed(1), ratio(rate, plain)];
  });
  return [`${STEPS[step]}, ${work.name}`, ...cells];
}

/** @returns the rate per second; `NaN` if it was not measured */
function rateIn(rates: readonly Rate[], { work, step, server }: { work: Work; step: string; server: string }): number {
  const found = rates.filter((rate) => rate.work === work.name && rate.step === step && rate.server === server);
  return median(found.map(({ perSecond }) => perSecond));
}

function ratesAims(rates: readonly Rate[]): Aim[] {
  return WORKS.filter(({ bytes }) => bytes === 1e6).map((work) => {
    const [serve, plain] = ["serve", "plain"].map((server) => rateIn(rates, { work, step: "shared", server }));
    return {
      what: `Shared, ${work.name}`,
      aim: "half or more of the plain server",
      reached: ratio(serve ?? Number.NaN, plain ?? Number.NaN),
    };
  });
}

function memoryAims(raises: readonly Raise[]): Aim[] {
  return (["put", "get"] as const).map((step) => {
    const [serve, plain] = ["serve", "plain"].map((server) => {
      const found = raises.filter((raise) => raise.step === step && raise.server === server);
      return `${median(found.map(({ mebibytes }) => mebibytes)).toFixed(1)} MiB`;
    });
    return {
      what: `Memory that a ${step} of 100 MiB adds to serve`,
      aim: "less than 32 MiB",
      reached: `${serve}; to the plain server ${plain}`,
    };
  });
}

function checksAim({ requests, bare }: Checks): Aim {
  return {
    what: "Signed requests checked in 1 s by one core",
    aim: "none set",
    reached: `${median(requests).toFixed(0)}; bare signatures by node:crypto ${median(bare).toFixed(0)}`,
  };
}

/** Checks per second on one core: of whole requests, and of bare signatures. */
interface Checks {
  requests: number[];
  bare: number[];
}

async function checksOf(entry: string, owner: Owner, rounds: number): Promise<Checks> {
  const load = <T>(path: string): Promise<T> => import(new URL(path, entry).href);
  const { signRequest } = await load<typeof import("../../plugin/http/sign-request.js")>("http/sign-request.js");
  const { verifyRequest } = await load<typeof import("../../plugin/http/signature.js")>("http/signature.js");
  const { memoryStore } = await load<typeof import("../../plugin/store/memory.js")>("store/memory.js");
  const unsigned = { method: "GET", url: `${SITE_URL}/api/v1/blob/photo.jpg` };
  const request = new Request(unsigned.url, { headers: signRequest(unsigned, owner, Date.now()) });
  const terms = {
    authority: new URL(SITE_URL).host,
    allowed: new Set([owner.publicKey]),
    store: memoryStore(),
    now: Date.now,
  };
  const bytes = randomBytes(500);
  const signature = owner.sign(bytes);
  const publicKey = createPublicKey(owner.privateKey);

  const checks: Checks = { requests: [], bare: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const whole = await rateOf(() => verifyRequest(request, async () => Buffer.alloc(0), terms));
    const bare = await rateOf(async () => {
      if (!verify(null, bytes, publicKey, signature)) throw new Error("The signature is wrong.");
    });
    if (round === 0) continue;
    checks.requests.push(whole);
    checks.bare.push(bare);
  }
  return checks;
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < CHECK_BLOCK; i += 1) await work();
  return (CHECK_BLOCK * 1000) / (performance.now() - start);
}
