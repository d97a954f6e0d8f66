import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { identityOf } from "../helpers/identity.js";
import { devSite, freePort, netlifyDev, type RunningNetlify, type Site } from "./local-netlify.js";

const MIB = 2 ** 20;
const ALICE = identityOf(randomBytes(32));
const EVE = identityOf(randomBytes(32));

let alice: Site;
let running: RunningNetlify;

beforeAll(async () => {
  const port = await freePort();
  const options = { url: `http://localhost:${port}`, nick: "alice", key: ALICE.publicKey, blobs: true };
  alice = await devSite(options, "---\ndate: 2026-10-03T08:00:00Z\n---\nHello!\n");
  running = await netlifyDev(alice, port, {});
});
afterAll(async () => {
  await running?.stop();
  alice?.remove();
});

describe("blobs under netlify dev", () => {
  it("201, 200: stores up to 4 MiB, and returns it whole and in ranges", async () => {
    const contents = randomBytes(4 * MIB);
    const put = await ask("PUT", "large", { "content-type": "image/jpeg", "blob-public": "?1" }, contents);
    expect([put.status, await put.json()]).toMatchObject([201, { size: 4 * MIB, sha256: sha256(contents) }]);

    const got = await ask("GET", "large");
    expect(sha256(Buffer.from(await got.arrayBuffer()))).toBe(sha256(contents));
    const shared = await fetch(sharedUrl("large"), { headers: { range: "bytes=100-199" } });
    expect([shared.status, shared.headers.get("content-range")]).toEqual([206, `bytes 100-199/${4 * MIB}`]);
    expect(Buffer.from(await shared.arrayBuffer()).equals(contents.subarray(100, 200))).toBe(true);
  });

  it("413: refuses a larger one", async () => {
    const put = await ask("PUT", "larger", { "content-type": "image/png" }, Buffer.alloc(4 * MIB + 1));
    expect([put.status, await put.json()]).toMatchObject([413, { code: "body-too-large" }]);
    expect((await ask("HEAD", "larger")).status).toBe(404);
  });

  it("404: a blob that is made private is gone at once, and back when it is public again", async () => {
    await ask("PUT", "page", { "content-type": "text/plain", "blob-public": "?1" }, Buffer.from("hello"));
    expect(await (await fetch(sharedUrl("page"))).text()).toBe("hello");
    const change = (isPublic: boolean) =>
      ask("POST", "page", { "content-type": "application/json" }, Buffer.from(JSON.stringify({ public: isPublic })));
    expect(await (await change(false)).json()).toMatchObject({ Public: false, shared: null });
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
    expect(await (await change(true)).json()).toMatchObject({ Public: true, shared: sharedUrl("page") });
    expect((await fetch(sharedUrl("page"))).status).toBe(200);
    expect((await ask("DELETE", "page")).status).toBe(200);
    expect((await fetch(sharedUrl("page"))).status).toBe(404);
  });

  it("401, 403: refuses requests without the key of an owner", async () => {
    await ask("PUT", "mine", { "content-type": "image/png" }, Buffer.from("mine"));
    const answers = ["mine", "nothing"].map(async (key) => {
      const [unsigned, byEve] = await Promise.all([fetch(urlOf(key)), ask("GET", key, {}, undefined, EVE)]);
      return [unsigned.status, await unsigned.text(), byEve.status, await byEve.text()];
    });
    const [there, absent] = await Promise.all(answers);
    expect(there).toEqual(absent);
    expect(there).toMatchObject([401, expect.any(String), 403, expect.any(String)]);
  });

  it("lists the blobs", async () => {
    const { blobs } = (await (await ask("GET", "")).json()) as { blobs: { key: string }[] };
    expect(blobs.map(({ key }) => key).sort()).toEqual(["large", "mine"]);
  });
});

function ask(method: string, key: string, headers: Record<string, string> = {}, body?: Buffer, by = ALICE) {
  const url = urlOf(key);
  const signed = signRequest({ method, url, headers, ...(body && { body }) }, by, Date.now());
  return fetch(url, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
}

function urlOf(key: string): string {
  return `${running.url}/api/v1/blob${key && `/${key}`}`;
}

function sharedUrl(key: string): string {
  return `${running.url}/shared/${ALICE.publicKey}/${key}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
