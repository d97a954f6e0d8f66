// plugin/store/chunks.ts: conversion between bytes and streams, and their size and hash.
import { createHash } from "node:crypto";
import { TwtxtError } from "../errors.js";
import type { Range } from "./store.js";

/** Collects all chunks into one. */
export async function concatChunks(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** @returns the SHA-256 in hex */
export async function hashChunks(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const meter = new ChunkMeter();
  for await (const _ of meter.pass(chunks));
  return meter.sha256();
}

/** Measures chunks that pass through it. */
export class ChunkMeter {
  /** In bytes. */
  size = 0;
  readonly #hash = createHash("sha256");

  async *pass(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.size += chunk.length;
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** The SHA-256 of what has passed, in hex. */
  sha256(): string {
    return this.#hash.copy().digest("hex");
  }
}

/** A reader that brings its own buffers; `null` for a stream that is not a byte stream. */
export function byobReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** Chunks, as a body or a list has them. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Passes chunks on. @param tooLarge - makes the error for more than this many bytes */
export async function* limitSize(
  chunks: Chunks,
  maxBytes: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array, number> {
  let left = maxBytes;
  for await (const chunk of chunks) {
    left -= chunk.length;
    if (left < 0) throw tooLarge();
    yield chunk;
  }
  return left;
}

/** Passes chunks on. @param wrongSize - makes the error for another total size than that in bytes; default `store-failed` */
export async function* checkSize(
  chunks: Chunks,
  size: number,
  wrongSize = () => new TwtxtError("store-failed", `A value does not have the announced size of ${size} bytes.`),
): AsyncGenerator<Uint8Array> {
  if ((yield* limitSize(chunks, size, wrongSize)) > 0) throw wrongSize();
}

/** These bytes, or a range of them, without a copy. */
export function toPart(bytes: Uint8Array, range: Range | undefined): Uint8Array {
  return range ? bytes.subarray(range.first, range.last + 1) : bytes;
}

/** A stream of these bytes, or of a range of them. */
export function toStream(bytes: Uint8Array, range?: Range): ReadableStream<Uint8Array> {
  const part = toPart(bytes, range);
  return new ReadableStream({
    start(controller) {
      if (part.length > 0) controller.enqueue(part);
      controller.close();
    },
  });
}
