// plugin/http/event-stream.ts: parser of server-sent events.
import { TwtxtError } from "../errors.js";

/** An event, or the time to wait before reconnecting. */
export type StreamPart =
  | {
      kind: "event";
      /** The ID of this event, or else of the last event with one; empty if there was none. */
      id: string;
      /** Default: `message`. */
      name: string;
      data: string;
    }
  | { kind: "retry"; milliseconds: number };

/**
 * Parses a stream of events. Comments and an incomplete last event are skipped.
 *
 * @param maxLength - limit of a line and of the data of an event, in characters
 * @throws TwtxtError `too-large`; errors of the stream
 * @see HTML, 9.2.6 "Interpreting an event stream"
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<StreamPart> {
  let id = "";
  let name = "";
  let data: string[] = [];
  let length = 0;
  for await (const line of readLines(chunks, maxLength)) {
    if (line === "") {
      if (data.length > 0) yield { kind: "event", id, name: name || "message", data: data.join("\n") };
      [name, data, length] = ["", [], 0];
      continue;
    }
    const [field, value] = parseField(line);
    if (field === "event") name = value;
    if (field === "id" && !value.includes("\0")) id = value;
    if (field === "retry" && /^\d{1,9}$/.test(value)) yield { kind: "retry", milliseconds: Number(value) };
    if (field !== "data") continue;
    data.push(value);
    length += value.length + 1;
    if (length > maxLength) throw tooLarge(maxLength);
  }
}

/** The field name of a comment is empty. */
function parseField(line: string): [field: string, value: string] {
  const colon = line.indexOf(":");
  return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

/** Lines end with LF, CRLF or CR. Text after the last line end is dropped. */
async function* readLines(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  let wasCr = false;
  for await (const chunk of chunks) {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === "") continue;
    // The LF of a CRLF that two chunks share: its CR has already ended the line.
    const text = wasCr && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    wasCr = decoded.endsWith("\r");
    const [rest = "", ...others] = text.split(/\r\n|\n|\r/);
    begun += rest;
    for (const next of others) {
      yield begun;
      begun = next;
    }
    if (begun.length > maxLength) throw tooLarge(maxLength);
  }
}

function tooLarge(maxLength: number): TwtxtError {
  return new TwtxtError("too-large", `An event of the stream is larger than ${maxLength} characters.`);
}
