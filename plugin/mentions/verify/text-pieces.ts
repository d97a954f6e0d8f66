// plugin/mentions/verify/text-pieces.ts: splits a long text into pieces that are quick to search.

const PIECE_LENGTH = 4096;

/**
 * Cuts a text after the first boundary beyond each 4,096 characters.
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
