// plugin/mentions/verify/text-pieces.ts: a long text in short pieces, each quickly searched.

const PIECE_LENGTH = 4096;

/**
 * Cuts a text behind the first boundary after every 4,096 characters.
 *
 * @param boundary - matches one character; with the flag `g`
 */
export function* textPieces(text: string, boundary: RegExp): Iterable<string> {
  for (let start = 0; start < text.length; ) {
    boundary.lastIndex = start + PIECE_LENGTH;
    const end = boundary.exec(text)?.index ?? text.length;
    yield text.slice(start, end + 1);
    start = end + 1;
  }
}
