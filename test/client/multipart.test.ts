import { describe, expect, it } from "vitest";
import { type FormFile, readForm } from "../../plugin/client/files/upload-routes.js";

const TYPE = "multipart/form-data; boundary=----quince";
const END = "------quince--\r\n";

function field(name: string, value: string): string {
  return `------quince\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function file(filename: string, content: string): string {
  const disposition = `Content-Disposition: form-data; name="file"; filename="${filename}"`;
  return `------quince\r\n${disposition}\r\nContent-Type: application/octet-stream\r\n\r\n${content}\r\n`;
}

async function* inChunks(text: string, size = 64): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function textOf({ chunks }: FormFile): Promise<string> {
  const bytes: Uint8Array[] = [];
  for await (const chunk of chunks) bytes.push(chunk);
  return Buffer.concat(bytes).toString();
}

async function filesIn(text: string, size?: number): Promise<unknown[]> {
  const files: unknown[] = [];
  await readForm(TYPE, inChunks(text, size), async (file) => {
    files.push([file.filename, file.fields, await textOf(file)]);
  });
  return files;
}

describe("a form with files", () => {
  it("returns each chosen file with the fields before it", async () => {
    const lists =
      file("list.txt", "a\r\n--list\r\n------quinc") +
      file("", "") +
      file("", "").replace('; filename=""', "") +
      file("empty.txt", "");
    const form = field("visibility", "öffentlich") + lists + field("clean", "yes") + file("b", "b") + END;
    const files = [
      ["list.txt", { visibility: "öffentlich" }, "a\r\n--list\r\n------quinc"],
      ["empty.txt", { visibility: "öffentlich" }, ""],
      ["b", { visibility: "öffentlich", clean: "yes" }, "b"],
    ];
    for (const size of [1, 7, 10_000]) expect(await filesIn(form, size)).toEqual(files);
  });

  it("returns file names as browsers send them, including hostile ones", async () => {
    const names = [
      "qu%22o%0D%0Ate.txt",
      "100%25.txt",
      "ä ; b=c.txt",
      "../../.bashrc",
      "C:\\pictures\\a.png",
      "a'b\u202e.exe",
    ];
    const form = names.map((name) => file(name, "")).join("") + END;
    const read = (await filesIn(form)).map((file) => (file as unknown[])[0]);
    expect(read).toEqual(['qu"o\r\nte.txt', ...names.slice(1)]);
  });

  it("continues after a file that was not read to its end", async () => {
    const names: string[] = [];
    const form = file("large", "a".repeat(500_000)) + file("small", "b") + END;
    await readForm(TYPE, inChunks(form, 16_384), async ({ filename, chunks }) => {
      names.push(filename);
      for await (const _ of chunks) break;
    });
    expect(names).toEqual(["large", "small"]);
  });

  it("is read only as fast as its files are consumed", async () => {
    const form = file("large", "a".repeat(2 ** 20)) + file("small", "b".repeat(2 ** 10)).repeat(900) + END;
    let sent = 0;
    const body = async function* () {
      for await (const chunk of inChunks(form, 65_536)) {
        sent += chunk.length;
        yield chunk;
      }
    };
    let taken = 0;
    let mostHeld = 0;
    await readForm(TYPE, body(), async ({ chunks }) => {
      for await (const chunk of chunks) {
        // Here the parser could continue to read.
        await new Promise((resolve) => setImmediate(resolve));
        mostHeld = Math.max(mostHeld, sent - taken);
        taken += chunk.length;
      }
    });
    expect(taken).toBe(2 ** 20 + 900 * 2 ** 10);
    expect(mostHeld).toBeLessThan(2 ** 18);
  });

  it("fails if it ends early, as does its incomplete file, even if that is not read yet", async () => {
    const outcomes: unknown[] = [];
    const form = file("a", "whole") + file("b", "cut of").slice(0, -4);
    for (const size of [10, 10_000])
      for (const isLate of [false, true]) {
        const take = async (file: FormFile) => {
          if (isLate) await new Promise((resolve) => setImmediate(resolve));
          outcomes.push(await textOf(file).catch(() => "incomplete"));
        };
        await expect(readForm(TYPE, inChunks(form, size), take)).rejects.toThrow(
          "The form ended early. Send it again.",
        );
        expect(outcomes.splice(0)).toEqual(["whole", "incomplete"]);
      }
    for (const form of ["", "nonsense", `------quince\r\n${"a".repeat(40_000)}`, field("a", "b")])
      await expect(filesIn(form)).rejects.toThrow("The form ended early.");
  });

  it("fails if its sender disconnects, as does its incomplete file", async () => {
    const outcomes: unknown[] = [];
    const body = async function* () {
      yield Buffer.from(file("a", "cut off").slice(0, -4));
      throw new Error("aborted");
    };
    const take = async (file: FormFile) => {
      outcomes.push(await textOf(file).catch(() => "incomplete"));
    };
    await expect(readForm(TYPE, body(), take)).rejects.toThrow("The form ended early.");
    expect(outcomes).toEqual(["incomplete"]);
  });

  it("is refused with long fields or too many parts, and for another type", async () => {
    await expect(filesIn(field("visibility", "a".repeat(2000)) + file("a", "a") + END)).rejects.toThrow(
      "A field of this form is too long.",
    );
    for (const many of [field("a", "b"), file("a", "b"), "------quince\r\n\r\n\r\n"])
      await expect(filesIn(many.repeat(1101) + END, 10_000)).rejects.toThrow("at most 1000 files");
    for (const type of ["multipart/form-data", "text/plain; boundary=a", "application/x-www-form-urlencoded", ""])
      await expect(readForm(type, inChunks(END), async () => {})).rejects.toThrow("Send a form with files.");
  });
});
