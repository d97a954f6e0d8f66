import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/sign-request.js";
import { SMALL_BYTES } from "../../plugin/store/copy.js";
import { hostFile } from "../helpers/built-site.js";
import { loopbackServer } from "../helpers/loopback.js";
import { PAGES, settingsOf } from "../helpers/receiver.js";
import { s3Service } from "../helpers/s3-service.js";
import { ACCESS, BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { alice as aliceWithFeed, neighbour } from "../mentions/send/outgoing.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";
import { blog, command } from "./helpers.js";
import { type Server, serve, site } from "./server.js";

const lack = await versitygwLack();
if (lack !== null) console.error(`SKIPPED: serve with a bucket is not tested, since ${lack}.`);

const BLOBS = { owners: [ALICE.publicKey], count: 10, bytes: 2 ** 20, maxBytes: 2 ** 20 };

describe.skipIf(lack !== null)("eleventy-twtxt serve with a bucket", () => {
  let versitygw: Versitygw;
  beforeAll(async () => {
    versitygw = await startVersitygw();
  }, BUILD_MS);
  afterAll(() => versitygw?.end());

  it("stores its data in the bucket, which another machine can use too", async () => {
    const { url, bucket } = await s3Service(versitygw);
    const alice = site({ ...settingsOf({ key: ALICE.publicKey }), blobs: BLOBS });
    const first = await serve(alice, [], environmentOf(url, bucket));
    expect((await ask(first, "PUT", Buffer.from("hello"))).status).toBe(201);
    expect(first.output()).toContain(`stored in the bucket ${bucket}.`);
    expect(alice.list(".")).not.toContain("data");
    await first.end();

    const other = site({ ...settingsOf({ key: ALICE.publicKey }), blobs: BLOBS });
    const second = await serve(other, [], environmentOf(url, bucket));
    expect(await (await ask(second, "GET")).text()).toBe("hello");
  });

  it("has what `send` has sent, so that nothing is sent twice", async () => {
    const { url, bucket } = await s3Service(versitygw);
    const [made, bob] = [await aliceWithFeed(), await neighbour("bob")];
    made.twts = { "2026-11-20T09:30:00Z": `hi ${bob.mention}` };
    const settings = { ...settingsOf({ feedUrl: made.feedUrl }), hasEndpoints: false };
    const home = blog({ host: "node" }, { ...hostFile({ settings, pages: { ...PAGES, feeds: [made.feedUrl] } }) });
    const hosts = [made, bob].flatMap(({ host }) => ["--allow-private-host", host]);
    const send = () =>
      command(home.folder, ["send", "--backfill", "1", ...hosts], { environment: environmentOf(url, bucket) });
    expect((await send()).stdout).toContain(`sent to ${bob.endpoint}`);
    expect((await send()).stderr).toContain("Nothing to send");
    expect(home.list(".")).not.toContain("data");
  });

  it("can be backed up, and restored into another bucket", async () => {
    const [from, to] = [await s3Service(versitygw), await s3Service(versitygw)];
    const alice = site({
      ...settingsOf({ key: ALICE.publicKey }),
      blobs: { ...BLOBS, bytes: 8 * 2 ** 20, maxBytes: 8 * 2 ** 20 },
    });
    const large = randomBytes(SMALL_BYTES + 1);
    const server = await serve(alice, [], environmentOf(from.url, from.bucket));
    expect((await ask(server, "PUT", large)).status).toBe(201);
    await server.end();

    const type = (args: string[], environment: Record<string, string>) => command(alice.folder, args, { environment });
    const made = await type(["backup", "alice.tar.gz"], environmentOf(from.url, from.bucket));
    expect([made.exitCode, made.stderr]).toEqual([0, expect.stringMatching(/ 4\.0 MiB, read again and compared/)]);
    const there = await type(["restore", "alice.tar.gz"], environmentOf(to.url, to.bucket));
    expect([there.exitCode, there.stderr]).toEqual([
      0,
      expect.stringContaining(`Restored into the bucket ${to.bucket}.`),
    ]);
    const inBucket = await serve(alice, [], environmentOf(to.url, to.bucket));
    expect(Buffer.from(await (await ask(inBucket, "GET")).arrayBuffer()).equals(large)).toBe(true);
  });

  it("exit 1: does not start if the bucket cannot be used", async () => {
    const { url, bucket } = await s3Service(versitygw);
    const environment = { ...environmentOf(url, bucket), TWTXT_S3_SECRET_ACCESS_KEY: "another" };
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", "0"], { environment });
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/status 403.*(?:key|secret)/i)]);
  });

  it("exit 1: does not start if a newer version wrote the data, and leaves it untouched", async () => {
    const { url, bucket, behind } = await s3Service(versitygw);
    const stored = behind({ prefix: "twtxt/" });
    await stored.put("format", Buffer.from("2"));
    await stored.put("mentions/snapshot", Buffer.from("of a newer version"));
    const environment = environmentOf(url, bucket);
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", "0"], { environment });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("by a newer version: update the package")]);
    expect((await stored.keys("")).sort()).toEqual(["format", "mentions/snapshot"]);
    expect(Buffer.from((await stored.get("mentions/snapshot"))?.bytes ?? []).toString()).toBe("of a newer version");
  });
});

describe("an S3 service that ignores conditional requests", () => {
  it("exit 1: is refused, since concurrent writes would be lost", async () => {
    const { url } = await loopbackServer(({ method }, response) => {
      response.writeHead(method === "DELETE" ? 204 : 200, { etag: '"0123"' }).end();
    });
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", "0"], {
      environment: environmentOf(url, "alice"),
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ignores If-None-Match")]);
  });
});

function environmentOf(endpoint: string, bucket: string): Record<string, string> {
  return {
    TWTXT_S3_ENDPOINT: endpoint,
    TWTXT_S3_BUCKET: bucket,
    TWTXT_S3_REGION: ACCESS.region,
    TWTXT_S3_ACCESS_KEY_ID: ACCESS.accessKeyId,
    TWTXT_S3_SECRET_ACCESS_KEY: ACCESS.secretAccessKey,
  };
}

function ask({ url }: Server, method: string, body?: Buffer): Promise<Response> {
  const path = "/api/v1/blob/hello";
  const signed = signRequest({ method, url: `https://alice.example${path}`, ...(body && { body }) }, ALICE, Date.now());
  return fetch(url + path, { method, headers: signed, ...(body && { body: new Uint8Array(body) }) });
}
