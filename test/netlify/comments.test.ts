import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mentions } from "../../netlify/functions/mentions.js";
import { site } from "../../netlify/functions/site.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import { ALICE, COMMENTS, DANA } from "../helpers/commenter.js";
import { mailbox } from "../helpers/mailbox.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { PAGE, PAGES } from "../helpers/receiver.js";

const CONTEXT = { deploy: { context: "production" }, ip: "192.0.2.1" };
const POST = { ...PAGES, pages: [PAGE] };

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  await netlifyBlobs();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function send(settings: ReturnType<typeof siteOf>["settings"], path: string, fields?: object, signer = DANA) {
  const url = `https://alice.example${path}`;
  const [method, body] = fields ? ["POST" as const, Buffer.from(JSON.stringify(fields))] : ["GET" as const, undefined];
  const headers = { ...(body && { "content-type": "application/json" }) };
  const signed = signRequest({ method, url, headers, ...(body && { body }) }, signer, Date.now());
  const init = { method, headers: { ...headers, ...signed }, ...(body && { body }) };
  return mentions(settings, POST)(new Request(url, init), CONTEXT);
}

describe("comments on Netlify", () => {
  it("202, 200 and 303: are held, listed for their guest, approved, and served as a feed", async () => {
    const { settings } = siteOf("https://alice.example", { key: ALICE.publicKey, mentions: { comments: true } });
    const posted = await send(settings, "/comments", { target: PAGE, text: "Hello" });
    const { id, state } = Object(await posted.json());
    expect([posted.status, state]).toEqual([202, "held"]);
    const own = await send(settings, `/comments?guest=${DANA.publicKey}`);
    expect(await own.json()).toMatchObject({ comments: [{ id, text: "Hello", state: "held" }] });
    expect((await send(settings, `/api/v1/mentions/${id}`, { state: "shown" }, ALICE)).status).toBe(200);
    const feed = await send(settings, `/guests/${DANA.publicKey}.txt`);
    expect([feed.headers.get("netlify-cache-tag"), await feed.text()]).toEqual([
      "twtxt-mentions",
      expect.stringContaining("Hello"),
    ]);
    const form = new Request(COMMENTS, {
      method: "POST",
      headers: { accept: "text/html" },
      body: new URLSearchParams({ target: PAGE, text: "By hand" }),
    });
    expect((await mentions(settings, POST)(form, CONTEXT)).status).toBe(303);
  });

  it("429: processes of the function count what others took within the two seconds for which they keep a listing", async () => {
    const comments = { perDay: 30 };
    const { settings } = siteOf("https://alice.example", { key: ALICE.publicKey, mentions: { comments } });
    const processes = [mentions(settings, POST), mentions(settings, POST)];
    const statuses: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const body = new URLSearchParams({ target: PAGE, text: `Comment ${n}` });
      const answer = await processes[n % 2]?.(new Request(COMMENTS, { method: "POST", body }), CONTEXT);
      statuses.push(answer?.status ?? 0);
    }
    expect(statuses).toEqual([202, 202, 202, 429, 429, 429, 429, 429]);
  });

  it("sends the mail that asks an address to confirm, after the answer, and confirms it in another function", async () => {
    const box = await mailbox();
    vi.stubEnv("TWTXT_SMTP_URL", `smtp://${box.host}:${box.port}?from=blog@alice.example`);
    const built = siteOf("https://alice.example", { key: ALICE.publicKey, mentions: { comments: { mail: true } } });
    const work: Promise<void>[] = [];
    const context = { ...CONTEXT, waitUntil: (promise: Promise<void>) => void work.push(promise) };
    const body = JSON.stringify({ target: PAGE, text: "Hello", mail: "dana@dana.example" });
    const headers = { "content-type": "application/json" };
    const posted = await mentions(built.settings, POST)(
      new Request(COMMENTS, { method: "POST", headers, body }),
      context,
    );
    expect(await posted.json()).toMatchObject({ state: "held", mail: "waiting" });
    await Promise.all(work);
    const [link = ""] = box.mails[0]?.text.match(/https:\S+k=\S+/) ?? [];
    const confirm = () => new Request(link, { method: "POST", body: new URLSearchParams({ do: "confirm" }) });
    const { status } = await site(built.settings, POST)(confirm(), CONTEXT);
    expect(status).toBe(303);
    const shown = await site(built.settings, POST)(new Request(link), CONTEXT);
    expect(await shown.text()).toContain("dana@dana.example is told when there is an answer");
  });

  it("404: the option is off", async () => {
    const { settings } = siteOf("https://alice.example", { key: ALICE.publicKey });
    expect((await send(settings, "/comments", { target: PAGE, text: "Hello" })).status).toBe(404);
  });
});
