// plugin/mentions/send/link-header.ts: the links that an answer carries in its headers.

/**
 * The targets of the links that have a relation, in order.
 *
 * A link with an `anchor` speaks of another page and is left out. One that cannot be read is passed over, up to the next
 * comma.
 *
 * @param header - the values of all `Link` headers, joined by commas
 * @param rel - in lower case
 * @returns the targets as written, so that some may be relative; the time taken is linear in the length of the header
 * @example linkTargets('</next>; rel=next, </wm>; rel="x webmention"', "webmention") // ["/wm"]
 * @see RFC 8288, 3 and B.3
 */
export function linkTargets(header: string, rel: string): string[] {
  const targets: string[] = [];
  for (const { target, parameters } of readLinks(header)) {
    const rels = parameters.get("rel")?.toLowerCase().split(/\s+/) ?? [];
    if (rels.includes(rel) && !parameters.has("anchor")) targets.push(target);
  }
  return targets;
}

interface Link {
  target: string;
  /** By lower-cased name, the first one of each. */
  parameters: Map<string, string>;
}

function* readLinks(header: string): Iterable<Link> {
  const text = new Scanner(header);
  for (text.take(/[\s,]*/y); !text.isAtEnd(); text.take(/[\s,]*/y)) {
    if (text.take(/</y) === "") {
      text.take(/[^,]*/y);
      continue;
    }
    const target = text.take(/[^>]*/y).trim();
    if (text.take(/>/y) === "") return;
    yield { target, parameters: readParameters(text) };
  }
}

/** Reads up to a comma or the end. */
function readParameters(text: Scanner): Map<string, string> {
  const parameters = new Map<string, string>();
  // What stands here without a semicolon before it belongs to nothing.
  for (text.take(/[^;,]*/y); text.take(/;/y) !== ""; text.take(/[^;,]*/y)) {
    const name = text
      .take(/[^=;,]*/y)
      .trim()
      .toLowerCase();
    const value = text.take(/=\s*/y) === "" ? "" : readValue(text);
    if (!parameters.has(name)) parameters.set(name, value);
  }
  return parameters;
}

function readValue(text: Scanner): string {
  const quoted = text.take(/"(?:[^"\\]+|\\.)*"?/sy);
  if (quoted === "") return text.take(/[^;,]*/y).trim();
  return quoted.replace(/^"|"$/g, "").replace(/\\(.)/gs, "$1");
}

/** A text that is read forwards. */
class Scanner {
  #at = 0;

  constructor(readonly text: string) {}

  isAtEnd(): boolean {
    return this.#at >= this.text.length;
  }

  /** @param pattern - sticky */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ""] = pattern.exec(this.text) ?? [];
    this.#at += taken.length;
    return taken;
  }
}
