import { describe, expect, it } from "vitest";
import { chunksUntilAborted } from "../../plugin/store/chunks.js";

/** A body that has these chunks and never ends. @returns it, and the reasons of its cancellations */
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
  it("fail with its reason, even if no chunk arrives, and cancel the body", async () => {
    const ending = new AbortController();
    const { body, cancelled } = bodyOf(["one", "two"]);
    const received: string[] = [];
    const reading = (async () => {
      for await (const chunk of chunksUntilAborted(body, ending.signal)) received.push(Buffer.from(chunk).toString());
    })();
    await expect.poll(() => received).toEqual(["one", "two"]);
    const reason = new Error("aborted by the test");
    ending.abort(reason);
    await expect(reading).rejects.toBe(reason);
    expect(cancelled).toEqual([reason]);
  });

  it("do not start if it is already aborted", async () => {
    const reason = new Error("aborted by the test");
    const { body, cancelled } = bodyOf(["one"]);
    await expect(chunksUntilAborted(body, AbortSignal.abort(reason)).next()).rejects.toBe(reason);
    expect(cancelled).toEqual([reason]);
  });

  it("cancel the body if the consumer stops", async () => {
    const { body, cancelled } = bodyOf(["one", "two"]);
    for await (const chunk of chunksUntilAborted(body, new AbortController().signal)) {
      expect(Buffer.from(chunk).toString()).toBe("one");
      break;
    }
    expect(cancelled).toHaveLength(1);
  });

  it("end when the body ends, and fail when it fails", async () => {
    const { signal } = new AbortController();
    const all: Uint8Array[] = [];
    for await (const chunk of chunksUntilAborted(new Blob(["one"]).stream(), signal)) all.push(chunk);
    expect(Buffer.concat(all).toString()).toBe("one");
    const broken = new Error("The connection was lost.");
    const failing = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(broken) });
    await expect(chunksUntilAborted(failing, signal).next()).rejects.toBe(broken);
  });
});
