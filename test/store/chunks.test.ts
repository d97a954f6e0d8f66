import { describe, expect, it } from "vitest";
import { chunksUntilAborted } from "../../plugin/store/chunks.js";

/** A body that brings what it has, and then never ends by itself. @returns with the reasons that it was cancelled for */
function bodyOf(chunks: string[]): { body: ReadableStream<Uint8Array>; cancelled: unknown[] } {
  const cancelled: unknown[] = [];
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      return next === undefined ? new Promise(() => {}) : controller.enqueue(Buffer.from(next));
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  return { body, cancelled };
}

describe("the chunks of a body until a signal", () => {
  it("end with its reason, also where nothing comes any more, and let go of the body", async () => {
    const ending = new AbortController();
    const { body, cancelled } = bodyOf(["one", "two"]);
    const come: string[] = [];
    const reading = (async () => {
      for await (const chunk of chunksUntilAborted(body, ending.signal)) come.push(Buffer.from(chunk).toString());
    })();
    await expect.poll(() => come).toEqual(["one", "two"]);
    const reason = new Error("It is over.");
    ending.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(cancelled).toEqual([reason]);
  });

  it("do not begin where it is aborted already", async () => {
    const reason = new Error("It is over.");
    const { body, cancelled } = bodyOf(["one"]);
    await expect(chunksUntilAborted(body, AbortSignal.abort(reason)).next()).rejects.toBe(reason);
    expect(cancelled).toEqual([reason]);
  });

  it("let go of the body where who reads has enough", async () => {
    const { body, cancelled } = bodyOf(["one", "two"]);
    for await (const chunk of chunksUntilAborted(body, new AbortController().signal)) {
      expect(Buffer.from(chunk).toString()).toBe("one");
      break;
    }
    expect(cancelled).toHaveLength(1);
  });

  it("end with the body, and fail with it", async () => {
    const { signal } = new AbortController();
    const all: Uint8Array[] = [];
    for await (const chunk of chunksUntilAborted(new Blob(["one"]).stream(), signal)) all.push(chunk);
    expect(Buffer.concat(all).toString()).toBe("one");
    const broken = new Error("The connection broke off.");
    const failing = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(broken) });
    await expect(chunksUntilAborted(failing, signal).next()).rejects.toBe(broken);
  });
});
