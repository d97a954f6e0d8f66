import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundaryOf, partsOf } from "../../plugin/client/files/multipart.js";

const BOUNDARY = "----quince";
const FORM = [
  '------quince\r\nContent-Disposition: form-data; name="visibility"\r\n\r\nprivate',
  '------quince\r\nContent-Disposition: form-data; name="file"; filename="qu%22o%0D%0Ate.txt"\r\nContent-Type: text/plain\r\n\r\na\r\n--list\r\n------quinc',
  '------quince\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n',
  "------quince--\r\n",
].join("\r\n");
const PARTS = [
  ["visibility", null, "private"],
  ["file", 'qu"o\r\nte.txt', "a\r\n--list\r\n------quinc"],
  ["file", "", ""],
];

async function* chunksOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

async function partsIn(text: string, size = text.length): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const { name, filename, chunks } of partsOf(chunksOf(text, size), BOUNDARY)) {
    const bytes: Uint8Array[] = [];
    for await (const chunk of chunks) bytes.push(chunk);
    parts.push([name, filename, Buffer.concat(bytes).toString()]);
  }
  return parts;
}

describe("a form with files", () => {
  it("has the same parts, wherever it is divided on its way", async () => {
    for (let size = 1; size < 90; size += 1) expect(await partsIn(FORM, size)).toEqual(PARTS);
  });

  it("is what FormData encodes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 200 }), async (content, size) => {
        const form = new FormData();
        form.append("file", new File([content], "a.txt"));
        const encoded = new Response(form);
        const boundary = boundaryOf(encoded.headers.get("content-type") ?? "");
        const bytes = Buffer.from(await encoded.arrayBuffer());
        const body = async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        };
        for await (const { filename, chunks } of partsOf(body(), boundary)) {
          const read: Uint8Array[] = [];
          for await (const chunk of chunks) read.push(chunk);
          expect([filename, Buffer.concat(read)]).toEqual(["a.txt", Buffer.from(content)]);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("can be read on after a part that was left early", async () => {
    const names: string[] = [];
    for await (const { name, chunks } of partsOf(chunksOf(FORM, 7), BOUNDARY)) {
      names.push(name);
      for await (const _ of chunks) break;
    }
    expect(names).toEqual(["visibility", "file", "file"]);
  });

  it("is refused if it ends early, has no name, or a header without end", async () => {
    await expect(partsIn(FORM.slice(0, -12))).rejects.toThrow("The form ended early.");
    await expect(partsIn(FORM.replaceAll("name=", "nom="))).rejects.toThrow("cannot be read");
    await expect(partsIn(`------quince\r\n${"a".repeat(40_000)}`)).rejects.toThrow("cannot be read");
    expect(() => boundaryOf("multipart/form-data")).toThrow("Send a form with files.");
    expect(() => boundaryOf("text/plain; boundary=a")).toThrow("Send a form with files.");
  });
});
