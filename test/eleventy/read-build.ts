// test/eleventy/read-build.ts: helpers that write posts and read the results of a build.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuiltSite } from "../helpers/site.js";

/** The header of Alice's feed with only the two required options. */
export const HEADER = "# nick = alice\n# url = https://alice.example/twtxt.txt\n\n";

/** The URLs of all endpoints of Alice's site, without that for mentions, which tests set. */
export const URLS = {
  mentionsJson: "https://alice.example/mentions.json",
  mentionsAtom: "https://alice.example/mentions.atom",
  mentionsFeed: "https://alice.example/mentions.txt",
  answers: "https://alice.example/answers",
  timelineJson: "https://alice.example/timeline.json",
  mentionsApi: "https://alice.example/api/v1/mentions",
  comments: "https://alice.example/comments",
  guestFeeds: "https://alice.example/guests",
  decisions: "https://alice.example/moderate",
  siteApi: "https://alice.example/api/v1/site",
  inbox: "https://alice.example/inbox",
  guests: "https://alice.example/.well-known/msg",
  hostMeta: "https://alice.example/.well-known/host-meta",
  webfinger: "https://alice.example/.well-known/webfinger",
  blobs: "https://alice.example/api/v1/blob",
  shared: "https://alice.example/shared",
  mentionsPage: "https://alice.example/mentions/",
};

/** A post with front matter in which each value is quoted as JSON, and the body unchanged. */
export function quoted(data: Record<string, unknown>, body = ""): string {
  const lines = Object.entries(data).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join("")}---\n${body}`;
}

/** The lines of the twts in `/twtxt.txt`, without the LF. */
export function lines(built: BuiltSite, path = "twtxt.txt"): string[] {
  const [, body = ""] = split(built.read(path));
  return body.split("\n").slice(0, -1);
}

/** The text of the twt with this timestamp; `null` for none. @throws Error if there are several */
export function textAt(built: BuiltSite, timestamp: string): string | null {
  const found = lines(built).filter((line) => line.startsWith(`${timestamp}\t`));
  if (found.length > 1) throw new Error(`${found.length} lines at ${timestamp}`);
  return found[0]?.slice(timestamp.length + 1) ?? null;
}

/** The plugin's log messages, except the one about the host: warnings in order, then the others. */
export function logged(built: BuiltSite): string[] {
  const name = "[eleventy-plugin-twtxt] ";
  const sentences = built.log.split("\n").flatMap((line) => (line.startsWith(name) ? [line.slice(name.length)] : []));
  // Warnings go to another stream, so their position in the log varies.
  const isSummary = (sentence: string) => sentence.startsWith("Wrote ");
  const isOfHost = (sentence: string) => sentence.startsWith("Built for the host ");
  return [
    ...sentences.filter((sentence) => !isSummary(sentence) && !isOfHost(sentence)),
    ...sentences.filter(isSummary),
  ];
}

/** The error message that stopped a build. */
export function buildError(built: BuiltSite): string | null {
  return /^\[11ty\] (?:\d+\. )?\[eleventy-plugin-twtxt\] (.*?)(?: \(via TwtxtError\))?$/m.exec(built.log)?.[1] ?? null;
}

/** The content of a file of the project; `null` if it does not exist. */
export function projectFile(built: BuiltSite, path: string): string | null {
  const file = join(built.folder, path);
  return existsSync(file) ? readFileSync(file, "utf8") : null;
}

function split(feed: string): string[] {
  const end = feed.indexOf("\n\n") + 2;
  return [feed.slice(0, end), feed.slice(end)];
}
