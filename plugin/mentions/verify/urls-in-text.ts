// plugin/mentions/verify/urls-in-text.ts: finds web addresses in plain text.

/** Up to a character that no address contains, but not from the middle of a word or another address. */
const ADDRESS = /(?<![A-Za-z0-9_=/&?%#@+])https?:\/\/[^\s<>"`]+/gi;
const LINK = /\]\(\s*<?(https?:\/\/[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)/gi;

/** Punctuation and closing brackets, which belong to the text rather than to the address. */
const AFTER_ADDRESS = /(?<![.,;:!?'”’»*_~|)\]}…。，、！？）」])[.,;:!?'”’»*_~|)\]}…。，、！？）」]+$/;

/**
 * Finds bare addresses, those in angle brackets, and the destinations of Markdown links, in linear time.
 *
 * @returns each address with and without the punctuation at its end
 * @example urlsInText("See https://alice.example/a.") // ["https://alice.example/a.", "https://alice.example/a"]
 * @see PROTOCOL 2.4, "The proof"
 */
export function urlsInText(text: string): string[] {
  const bare = [...text.matchAll(ADDRESS)].flatMap(([address]) => formsOf(address));
  const linked = [...text.matchAll(LINK)].map(([, address = ""]) => address);
  return [...new Set([...bare, ...linked])];
}

function formsOf(address: string): string[] {
  const short = address.replace(AFTER_ADDRESS, "");
  // As in `https://en.example/Quince_(fruit)`, this bracket belongs to the address.
  const isOpen = short.lastIndexOf("(") > short.lastIndexOf(")") && address[short.length] === ")";
  return [address, isOpen ? `${short})` : short];
}
