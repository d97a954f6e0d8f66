// plugin/store/s3-xml.ts: texts out of the flat XML that S3 answers with.

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The texts of all elements of a name that hold nothing but text. */
export function textsIn(xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([^<]*)</${element}>`, "g");
  return [...xml.matchAll(pattern)].map(([, text = ""]) => unescaped(text));
}

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null;
    if (code === null) return NAMED[name] ?? all;
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
