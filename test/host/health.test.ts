import { afterEach, describe, expect, it, vi } from "vitest";
import { createEndpoints } from "../../plugin/host/endpoints.js";
import { healthHandler } from "../../plugin/host/health.js";
import { memoryStore } from "../../plugin/store/memory.js";
import type { StreamingStore } from "../../plugin/store/store.js";
import { builtSite } from "../helpers/built-site.js";
import { faultyStore } from "../helpers/faulty-store.js";

const SECOND = 1000;

afterEach(() => void vi.useRealTimers());

/** A server whose store counts reads. */
function server({ pathPrefix = "", get }: { pathPrefix?: string; get?: StreamingStore["get"] } = {}) {
  const clock = { time: 0 };
  const log: string[] = [];
  const store = faultyStore({ ...memoryStore(), ...(get && { get }) });
  const read = vi.spyOn(store, "get");
  const handler = healthHandler({ client: "eleventy-plugin-twtxt/1.2.3", store, now: () => clock.time });
  const { settings } = builtSite(`https://alice.example${pathPrefix}`);
  const endpointAt = createEndpoints(settings, { health: handler }, (line) => log.push(line));
  const ask = async (path = "/health") => {
    const response = await endpointAt(path)?.answer(new Request(`https://alice.example${path}`), "192.0.2.1");
    return response && { status: response.status, body: JSON.parse(String(response.body)) as Record<string, unknown> };
  };
  return { ask, clock, log, store, read };
}

describe("the health of a server", () => {
  it("200: the store can be read; has the version of the software", async () => {
    expect(await server().ask()).toEqual({ status: 200, body: { status: "ok", version: "1.2.3" } });
  });

  it("is at the root of the server, whatever the path prefix of the site", async () => {
    const { ask } = server({ pathPrefix: "/blog" });
    expect((await ask())?.status).toBe(200);
    expect(await ask("/blog/health")).toBeUndefined();
    expect(await ask("/health/")).toBeUndefined();
  });

  it("reads the store once for all requests of a second, concurrent ones included", async () => {
    const { ask, clock, read } = server();
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    clock.time += SECOND - 1;
    await ask();
    expect(read).toHaveBeenCalledTimes(1);
    clock.time += 1;
    await ask();
    expect(read).toHaveBeenCalledTimes(2);
  });

  it("503 store-failed: the store cannot be read; 200 a second after it can again", async () => {
    const { ask, clock, log, store } = server();
    store.fail({ when: "before" });
    const answer = await ask();
    expect(answer).toMatchObject({ status: 503, body: { code: "store-failed" } });
    expect(answer?.body.detail).not.toContain("down");
    expect(log).toEqual([expect.stringContaining("down before get")]);
    store.repair();
    clock.time += SECOND;
    expect((await ask())?.status).toBe(200);
  });

  it("503 store-failed: the store has not answered for three seconds; no second read starts", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let answerRead: (stored: null) => void = () => {};
    const pending = new Promise<null>((resolve) => {
      answerRead = resolve;
    });
    const { ask, clock, log, read } = server({ get: () => pending });
    for (let n = 0; n < 3; n += 1) {
      const answer = ask();
      await vi.advanceTimersByTimeAsync(3 * SECOND);
      expect(await answer).toMatchObject({ status: 503, body: { code: "store-failed" } });
      clock.time += 10 * SECOND;
    }
    expect(read).toHaveBeenCalledTimes(1);
    expect(log).toEqual(Array(3).fill(expect.stringContaining("The store has not answered for 3 s.")));
    answerRead(null);
    expect((await ask())?.status).toBe(200);
  });
});
