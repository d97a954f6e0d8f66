import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { guests } from "../../netlify/functions/guests.js";
import { inbox } from "../../netlify/functions/inbox.js";
import { signRequest } from "../../plugin/http/sign-request.js";
import { identityOf } from "../helpers/identity.js";
import { netlifyBlobs, siteOf } from "../helpers/netlify-site.js";
import { telephone } from "../helpers/telephone.js";
import { ALICE, ARMORED, EVE } from "../messages/inbox/alices-inbox.js";

const CONTEXT = { deploy: { context: "production" }, ip: "192.0.2.1" };
const DANA = identityOf(9, "dana");
const INBOX = `https://alice.example/inbox/${DANA.publicKey}`;

const { settings, pages } = siteOf("https://alice.example", { key: ALICE.publicKey, inbox: { subscribe: true } });

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  await netlifyBlobs();
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const lookUp = (name: string, site = settings) =>
  guests(site, pages)(new Request(`https://alice.example/.well-known/msg/${name}.json`), CONTEXT);

function ask(method: "GET" | "POST", signer: typeof ALICE, headers: Record<string, string> = {}) {
  const body = method === "POST" ? { body: Uint8Array.from(ARMORED) } : {};
  const signed = signRequest({ method, url: INBOX, headers, ...body }, signer, Date.now());
  return inbox(settings, pages)(new Request(INBOX, { method, headers: signed, ...body }), CONTEXT);
}

describe("guests on Netlify", () => {
  it("200: serves the document of a guest; 404 without JSON for a malformed key", async () => {
    expect(await (await lookUp(DANA.publicKey)).json()).toEqual({ endpoint: INBOX, key: DANA.publicKey });
    const miss = await lookUp(DANA.publicKey.slice(0, -1));
    expect([miss.status, miss.headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
  });

  it("404: guests are turned off", async () => {
    const { settings: without } = siteOf("https://alice.example", { key: ALICE.publicKey, inbox: { guests: false } });
    expect((await lookUp(DANA.publicKey, without)).status).toBe(404);
  });

  it("202, 401 and 403: only authors of the site can deliver, and only the guest can read; no author is notified", async () => {
    const phone = await telephone();
    vi.stubEnv("TWTXT_WEBHOOK_URL", phone.url);
    const unsigned = new Request(INBOX, { method: "POST", body: Uint8Array.from(ARMORED) });
    expect((await inbox(settings, pages)(unsigned, CONTEXT)).status).toBe(401);
    expect((await ask("POST", EVE)).status).toBe(403);
    expect((await ask("POST", ALICE)).status).toBe(202);
    expect(await (await ask("GET", DANA)).json()).toMatchObject([{ payload: ARMORED.toString("base64") }]);
    expect((await ask("GET", EVE)).status).toBe(403);
    expect(phone.notes).toEqual([]);
  });

  it("406: a guest gets no event stream, which is billed by the second, even if the author has turned it on", async () => {
    expect((await ask("GET", DANA, { accept: "text/event-stream" })).status).toBe(406);
  });
});
