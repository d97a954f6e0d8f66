import { describe, expect, it } from "vitest";
import { EndpointCache } from "../../../plugin/mentions/send/endpoint-cache.js";
import { memoryStore } from "../../../plugin/store/memory.js";
import type { Store } from "../../../plugin/store/store.js";
import { NOW, siteWith } from "./bobs-site.js";

/** A store that counts its requests. */
function countingStore(inner: Store = memoryStore()): { store: Store; operations: string[] } {
  const operations: string[] = [];
  const store: Store = {
    ...inner,
    async get(key) {
      operations.push(`get ${key.split("/", 2).join("/")}`);
      return inner.get(key);
    },
    async put(key, ...rest) {
      operations.push(`put ${key.split("/", 2).join("/")}`);
      return inner.put(key, ...rest);
    },
  };
  return { store, operations };
}

const now = () => NOW;

describe("the endpoint of a target", () => {
  it("is looked up once for all twts in a run, and not in the next run while it is fresh", async () => {
    const bob = await siteWith((url) => ({
      "/twtxt.txt": {
        headers: { "cache-control": "max-age=3600" },
        body: `# webmention = ${url}/webmention\n`,
      },
    }));
    const target = `${bob.url}/twtxt.txt`;
    const { store, operations } = countingStore();
    const expected = { endpoint: `${bob.url}/webmention`, method: "feed field" };

    const first = new EndpointCache({ store, discover: bob.discover, now });
    const found = await Promise.all([first.discover(target), first.discover(target), first.discover(target)]);
    expect(found).toMatchObject([expected, expected, expected]);
    expect(operations).toEqual(["get sent/endpoints", "put sent/endpoints"]);

    const second = new EndpointCache({ store, discover: bob.discover, now });
    expect(await second.discover(target)).toMatchObject(expected);
    expect(await second.discover(target)).toMatchObject(expected);
    expect(operations).toEqual(["get sent/endpoints", "put sent/endpoints", "get sent/endpoints"]);
    expect(bob.requests).toEqual(["/twtxt.txt"]);
  });
});

describe("the form that an endpoint accepts", () => {
  it("is read once in a run, and written only if it changed", async () => {
    const endpoint = "https://bob.example/webmention";
    const bob = await siteWith(() => ({}));
    const { store, operations } = countingStore();
    const first = new EndpointCache({ store, discover: bob.discover, now });
    expect(await first.readForm(endpoint)).toBeNull();
    await first.noteForm(endpoint, "page");
    expect(operations.splice(0)).toEqual(["get sent/forms", "put sent/forms"]);

    const second = new EndpointCache({ store, discover: bob.discover, now });
    for (let twt = 0; twt < 3; twt += 1) {
      expect(await second.readForm(endpoint)).toMatchObject({ form: "page" });
      await second.noteForm(endpoint, "page");
    }
    expect(operations.splice(0)).toEqual(["get sent/forms"]);

    await second.noteForm(endpoint, "reference");
    expect(await new EndpointCache({ store, discover: bob.discover, now }).readForm(endpoint)).toMatchObject({
      form: "reference",
    });
    expect(operations).toEqual(["put sent/forms", "get sent/forms"]);
  });
});
