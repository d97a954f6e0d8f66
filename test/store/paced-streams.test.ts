import { setImmediate as settled } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startUpload, withIdleLimit } from "../../plugin/store/paced-streams.js";
import { IdleLimit } from "../../plugin/transport/idle-limit.js";

const IDLE_MS = 1000;
const LONG_MS = 100 * IDLE_MS;

/** A stream whose chunks the test writes. */
function chunkPipe() {
  return new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 10 }, { highWaterMark: 10 });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("the idle timeout of a bucket", () => {
  it("counts while an upload waits for the bucket, not for the source of the value", async () => {
    const idle = new IdleLimit(IDLE_MS);
    const { readable, writable } = chunkPipe();
    const writer = writable.getWriter();
    const upload = startUpload(readable, 4, idle);
    const bucketReader = upload.body.getReader();
    idle.start();

    const first = bucketReader.read();
    await writer.write(Uint8Array.of(1, 2));
    vi.advanceTimersByTime(LONG_MS);
    await writer.write(Uint8Array.of(3, 4));
    expect((await first).value).toEqual(Uint8Array.of(1, 2));
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(idle.signal.aborted).toBe(false);

    const second = bucketReader.read();
    await settled();
    vi.advanceTimersByTime(LONG_MS);
    await writer.close();
    expect((await second).value).toEqual(Uint8Array.of(3, 4));
    expect(upload.isTaken()).toBe(false);
    expect((await bucketReader.read()).done).toBe(true);
    expect(upload.isTaken()).toBe(true);
    expect(idle.signal.aborted).toBe(false);
    vi.advanceTimersByTime(IDLE_MS);
    expect(idle.signal.reason).toEqual(new Error("no data for 1 s"));
  });

  it("counts while a download waits for the bucket, not for the reader of the value", async () => {
    const idle = new IdleLimit(IDLE_MS);
    const { readable, writable } = chunkPipe();
    const writer = writable.getWriter();
    idle.signal.addEventListener("abort", () => void writer.abort(idle.signal.reason));
    const reader = withIdleLimit(readable, idle, (cause) => cause as Error).getReader();
    await writer.write(Uint8Array.of(1));
    expect((await reader.read()).value).toEqual(Uint8Array.of(1));
    vi.advanceTimersByTime(LONG_MS);
    expect(idle.signal.aborted).toBe(false);

    const second = reader.read();
    await settled();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(idle.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(idle.signal.aborted).toBe(true);
    await expect(second).rejects.toThrow("no data for");
  });
});
