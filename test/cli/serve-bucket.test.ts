import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRequest } from "../../plugin/http/signature.js";
import { loopbackServer } from "../helpers/loopback.js";
import { settingsOf } from "../helpers/receiver.js";
import { s3Service } from "../helpers/s3-service.js";
import { ACCESS, BUILD_MS, startVersitygw, type Versitygw, versitygwLack } from "../helpers/versitygw.js";
import { ALICE } from "../messages/inbox/alices-inbox.js";
import { command } from "./helpers.js";
import { type Server, serve, site } from "./server.js";

const lack = await versitygwLack();
if (lack !== null) console.error(`SKIPPED: serve with a bucket was not tried, since ${lack}.`);

const BLOBS = { owners: [ALICE.publicKey], count: 10, bytes: 2 ** 20, maxBytes: 2 ** 20 };

describe.skipIf(lack !== null)("eleventy-twtxt serve with a bucket", () => {
  let versitygw: Versitygw;
  beforeAll(async () => {
    versitygw = await startVersitygw();
  }, BUILD_MS);
  afterAll(() => versitygw?.end());

  it("keeps in it what comes in, for another machine too", async () => {
    const { url, bucket } = await s3Service(versitygw);
    const alice = site({ ...settingsOf({ key: ALICE.publicKey }), blobs: BLOBS });
    const first = await serve(alice, [], environmentOf(url, bucket));
    expect((await ask(first, "PUT", Buffer.from("hello"))).status).toBe(201);
    expect(first.said()).toContain(`kept in the bucket ${bucket}.`);
    expect(alice.list(".")).not.toContain("data");
    await first.end("SIGTERM");

    const other = site({ ...settingsOf({ key: ALICE.publicKey }), blobs: BLOBS });
    const second = await serve(other, [], environmentOf(url, bucket));
    expect(await (await ask(second, "GET")).text()).toBe("hello");
  });

  it("exit 1: does not start where the bucket cannot be used", async () => {
    const { url, bucket } = await s3Service(versitygw);
    const environment = { ...environmentOf(url, bucket), TWTXT_S3_SECRET_ACCESS_KEY: "another" };
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", "0"], { environment });
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/status 403.*(?:key|secret)/i)]);
  });
});

describe("a service that ignores conditions", () => {
  it("exit 1: is not taken, since it would lose what one of two writers has written", async () => {
    const { url } = await loopbackServer(({ method }, response) => {
      response.writeHead(method === "DELETE" ? 204 : 200, { etag: '"0123"' }).end();
    });
    const { exitCode, stderr } = await command(site().folder, ["serve", "--port", "0"], {
      environment: environmentOf(url, "alice"),
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ignores the condition")]);
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
