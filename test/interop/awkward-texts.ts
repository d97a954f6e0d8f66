// test/interop/awkward-texts.ts: plaintexts of messages that two clients could parse differently.

/** @returns the texts by their peculiarity; each claims to be from the address */
export function awkwardTexts(address: string): Record<string, string | Uint8Array> {
  const time = "2026-11-20T09:12:00Z";
  const content = (text: string) => `${time}\t(${address})\t${text}`;
  return {
    "no line end": content("no line end"),
    "blank lines at its end": content("end\n\n\n"),
    "a blank line before it": `\n${content("blank before\n")}`,
    CRLF: content("one\r\ntwo\r\n"),
    "two content lines": `${content("first\nsecond\n\n")}${content("third\n")}`,
    "two addresses": `${content("mine\n")}${time}\t(x@x.example)\tanother's\n`,
    "text before it": `before\n${content("after\n")}`,
    "no content line": "just text\n",
    "comments alone": "# x: y\n",
    nothing: "",
    "a receipt and a text": `${content("text\n")}# read: ${"1".repeat(64)}\n`,
    "a fraction and an offset": `2026-11-20T09:12:00.25+01:00\t(${address})\toffset\n`,
    "a lower-case t and z": `2026-11-20t09:12:00z\t(${address})\tlower case\n`,
    "an address in capitals": `${time}\t(${address.toUpperCase()})\tcapitals\n`,
    "an address without a domain": `${content("x\n")}${time}\t(bob)\tno address\n`,
    "a month 13": `2026-13-20T09:12:00Z\t(${address})\tmonth\n`,
    "a leap second": `2026-11-20T23:59:60Z\t(${address})\tleap second\n`,
    "an offset without a colon": `2026-11-20T09:12:00+0100\t(${address})\tcolon\n`,
    "bytes that are not UTF-8": Buffer.concat([Buffer.from(content("")), Uint8Array.of(0xff, 0x0a)]),
    "U+2028": content("one\u2028two\n"),
  };
}
