// plugin/mentions/verify/urls-in-text.ts: the web addresses that stand in a plain text, each as a whole.

/** From `http` up to what no address holds, but not out of the middle of a word or of another address. */
const ADDRESS = /(?<![A-Za-z0-9_=/&?%#@+])https?:\/\/[^\s<>"`]+/gi;
const LINK = /\]\(\s*<?(https?:\/\/[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*)/gi;

/** What ends a sentence or closes a bracket: part of the text rather than of the address before it. */
const AFTER_ADDRESS = /(?<![.,;:!?'”’»*_~|)\]}…。，、！？）」])[.,;:!?'”’»*_~|)\]}…。，、！？）」]+$/;

/**
 * The addresses that a text may mean: bare ones, those in angle brackets, and the destinations of Markdown links. The
 * time is linear in the length of the text.
 *
 * @returns each in the forms in which it may be meant: with and without punctuation at its end
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
  // `https://en.example/Quince_(fruit)`: this one bracket is the address's own.
  const isOpen = short.lastIndexOf("(") > short.lastIndexOf(")") && address[short.length] === ")";
  return [address, isOpen ? `${short})` : short];
}
