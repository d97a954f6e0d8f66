// plugin/http/event-stream.ts: server-sent events, read from the bytes of an answer.
import { TwtxtError } from "../errors.js";

/** What a stream says: something has happened, or how long to wait before connecting again. */
export type StreamPart =
  | {
      kind: "event";
      /** The last one that was given, for this event or an earlier one; empty where there was none. */
      id: string;
      /** `message` where it has no name. */
      name: string;
      data: string;
    }
  | { kind: "retry"; milliseconds: number };

/**
 * Reads a stream of events. Comments are passed over, and so is an event that breaks off.
 *
 * @param maxLength - of a line, and of all the data of an event, in characters
 * @throws TwtxtError `too-large`, and what reading the bytes throws
 * @see HTML, 9.2.6 "Interpreting an event stream"
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<StreamPart> {
  let id = "";
  let name = "";
  let data: string[] = [];
  let length = 0;
  for await (const line of linesIn(chunks, maxLength)) {
    if (line === "") {
      if (data.length > 0) yield { kind: "event", id, name: name || "message", data: data.join("\n") };
      [name, data, length] = ["", [], 0];
      continue;
    }
    const [field, value] = fieldOf(line);
    if (field === "event") name = value;
    if (field === "id" && !value.includes("\0")) id = value;
    if (field === "retry" && /^\d{1,9}$/.test(value)) yield { kind: "retry", milliseconds: Number(value) };
    if (field !== "data") continue;
    data.push(value);
    length += value.length + 1;
    if (length > maxLength) throw tooLarge(maxLength);
  }
}

/** A comment has a field without a name. */
function fieldOf(line: string): [field: string, value: string] {
  const colon = line.indexOf(":");
  return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}

/** Lines end with LF, CRLF or CR. What stands after the last end is no line. */
async function* linesIn(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = "";
  let wasCr = false;
  for await (const chunk of chunks) {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === "") continue;
    // The second half of a CRLF whose first half has ended a line already.
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
