import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvents, type StreamPart } from "../../plugin/http/event-stream.js";

const failsWith = (code: string) => expect.objectContaining({ code });

async function partsOf(chunks: readonly (string | Uint8Array)[], maxLength = 1000): Promise<StreamPart[]> {
  const bytes = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk);
  })();
  const parts: StreamPart[] = [];
  for await (const part of readEvents(bytes, maxLength)) parts.push(part);
  return parts;
}

const event = (data: string, id = "", name = "message"): StreamPart => ({ kind: "event", id, name, data });

describe("a stream of events", () => {
  it.each<[string, string, StreamPart[]]>([
    ["an event", "data: hello\n\n", [event("hello")]],
    ["a name and an id, in any order", "id: 7\ndata: a\nevent: news\n\n", [event("a", "7", "news")]],
    ["an id that remains for later events", "id: 7\ndata: a\n\ndata: b\n\n", [event("a", "7"), event("b", "7")]],
    ["an id of an event without data", "id: 7\n\ndata: a\n\n", [event("a", "7")]],
    ["an id that is reset", "id: 7\ndata: a\n\nid\ndata: b\n\n", [event("a", "7"), event("b")]],
    ["an id with a NULL, which is ignored", "id: 7\nid: \0\ndata: a\n\n", [event("a", "7")]],
    ["several lines of data", "data: a\ndata\ndata: b\n\n", [event("a\n\nb")]],
    ["one space after the colon, which is not data", "data:  a\ndata:b\n\n", [event(" a\nb")]],
    ["a name that applies to one event only", "event: x\n\ndata: a\n\n", [event("a")]],
    ["comments, which are ignored", ": still here\n\n:\ndata: a\n: b\n\n", [event("a")]],
    ["unknown fields, which are ignored", "foo: bar\nfoo\ndata: a\n\n", [event("a")]],
    ["a retry delay", "retry: 1500\n\nretry: -1\nretry: 1e3\n\n", [{ kind: "retry", milliseconds: 1500 }]],
    ["a byte order mark", "\ufeffdata: a\n\n", [event("a")]],
    ["an incomplete event at the end", "data: a\n\ndata: b\n", [event("a")]],
    ["an incomplete line", "data: a", []],
    ["no bytes", "", []],
  ])("parses %s, with all kinds of line ends", async (_name, text, parts) => {
    for (const end of ["\n", "\r\n", "\r"]) expect(await partsOf([text.replaceAll("\n", end)])).toEqual(parts);
  });

  it("is parsed the same in chunks of any size", async () => {
    const stream = Buffer.from(
      "retry: 5\r\nid: ü1\r\ndata: a\u2028b\r\ndata: c\r\n\r\n: x\r\rdata: c\ndata: d\n\nevent: e\rdata: f\r\r",
    );
    const whole = await partsOf([stream]);
    expect(whole).toHaveLength(4);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(stream.length)), async (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), stream.length];
        const chunks = places.slice(1).map((place, i) => stream.subarray(places[i], place));
        expect(await partsOf(chunks)).toEqual(whole);
      }),
    );
  });

  it("yields an event at its empty line, even if that ends with CR", async () => {
    let resume = () => {};
    const later = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const bytes = (async function* () {
      yield Buffer.from("data: a\r\r");
      await later;
      yield Buffer.from("\ndata: b\r\n\r\n");
    })();
    const events = readEvents(bytes, 1000);
    expect((await events.next()).value).toEqual(event("a"));
    resume();
    expect((await events.next()).value).toEqual(event("b"));
  });

  it.each([
    ["a line without end", ["data: ", ...Array(20).fill("a".repeat(10))]],
    ["an event without end", Array(20).fill(`data: ${"a".repeat(10)}\n`)],
    ["an event of empty lines without end", Array(200).fill("data\n")],
  ])("too-large: %s", async (_name, chunks) => {
    await expect(partsOf(chunks, 100)).rejects.toThrow(failsWith("too-large"));
  });
});
