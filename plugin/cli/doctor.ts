// plugin/cli/doctor.ts: `eleventy-twtxt doctor` checks a live site as its peers see it.
import { counted } from "../author/amounts.js";
import { type Finding, formatFinding, sumFaults } from "../author/doctor/check.js";
import { createChecks } from "../author/doctor/examine.js";
import { misuse } from "../author/invocation.js";
import { command } from "./command.js";
import { address, flag, HOSTS_OPTION, JSON_OPTION, option, optional, SETTINGS_OPTION, url } from "./options.js";
import { printData } from "./terminal.js";

const OPTIONS = {
  flood: flag("tests the rate limit; only for a site of your own"),
  address: option(
    address("alice@alice.example"),
    "the address to look up (default: the nick of the feed, at its host)",
  ),
  ...JSON_OPTION,
  ...HOSTS_OPTION,
  ...SETTINGS_OPTION,
};

export const doctor = command({
  name: "doctor",
  summary: "checks a live site as others see it",
  usage: "[URL] [options]",
  about: `Checks a published feed and its archives, the endpoint that receives its mentions, and the documents of its author's address, as other sites see them, and says what to fix. URL is the feed or the site; the default is the site in this folder.

On your own site (in this folder, or with --flood) it also tests the rate limit, with up to 130 invalid mentions, if the endpoint is on the host of the feed.`,
  options: OPTIONS,
  words: optional(url("https://alice.example/twtxt.txt")),
  notes: "Exit code 0 if there is nothing to fix, else 1.",
  example: `$ eleventy-twtxt doctor https://alice.example
ok    https://alice.example/ names the feed https://alice.example/tw.txt
fix   https://alice.example/tw.txt is served as "text/html". Some readers accept only plain text.
      Have your host serve it as "text/plain; charset=utf-8".`,
  async run(values, given, terminal) {
    const checks = await createChecks(given, values, terminal);
    if (checks === null) throw misuse("doctor", "expected a URL, since there is no built site in this folder.");
    const findings: Finding[] = [];
    for await (const finding of checks) {
      findings.push(finding);
      if (!values.json) terminal.print(formatFinding(finding));
    }
    printData(findings, [], values, terminal);
    const notes = findings.filter(({ level }) => level === "note");
    terminal.say(`${sumFaults(findings)}, ${counted(notes.length, "note")}.`);
    return findings.some(({ level }) => level === "fix") ? 1 : 0;
  },
});
