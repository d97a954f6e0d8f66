// plugin/cli/doctor/mention-lists.ts: the public list of mentions, the author's private feed of them, and what cannot be seen.
import { FEATURES } from "../../host/features.js";
import { PATHS } from "../../site/routes.js";
import { type Finding, fix, note, ok, quoted } from "./finding.js";
import { isSeen, jsonIn, type Look, type Seen, typeOf } from "./look.js";

/** Where they are. */
export interface ListUrls {
  mentionsJson: string;
  mentionsFeed: string;
}

/** Where they are for all that can be told from outside: beside the endpoint. */
export function listsBeside(endpoint: string): ListUrls {
  const at = (path: string) => new URL(`.${path}`, endpoint).href;
  return { mentionsJson: at(PATHS.mentionsJson), mentionsFeed: at(PATHS.mentionsFeed) };
}

/** @see PROTOCOL 2.4, 2.5 and 7 */
export async function checkMentionLists({ mentionsJson, mentionsFeed }: ListUrls, look: Look): Promise<Finding[]> {
  return [...(await checkList(mentionsJson, look)), await checkPrivateFeed(mentionsFeed, look), unseen()];
}

async function checkList(url: string, look: Look): Promise<Finding[]> {
  const list = await look(url);
  if (!isSeen(list)) return [list];
  if (list.status !== 200 || typeOf(list) !== "application/json" || !Array.isArray(jsonIn(list).mentions)) {
    return [
      fix(
        `${url} is no list of mentions: it answers ${list.status}.`,
        `Deploy the site with its functions. If its host only serves files, give the plugin the option host: "static" and build the site. Is its endpoint in a folder of its own? Then look from the folder of the site's sources.`,
      ),
    ];
  }
  return [ok(`${url} lists the mentions`), ...checkAnyone(list), ...(await checkCaching(list, look))];
}

function checkAnyone({ headers, url }: Seen): Finding[] {
  if (headers["access-control-allow-origin"] === "*") return [];
  return [
    fix(
      `${url} cannot be read by pages of other addresses.`,
      'Something in between takes "Access-Control-Allow-Origin: *" out; have it left in.',
    ),
  ];
}

async function checkCaching({ headers, url }: Seen, look: Look): Promise<Finding[]> {
  const findings: Finding[] = [];
  const again = headers.etag === undefined ? null : await look(url, { headers: { "if-none-match": headers.etag } });
  if (again === null || !isSeen(again) || again.status !== 304) {
    findings.push(
      note(
        `${url} is fetched whole each time, changed or not.`,
        "Something in between takes its ETag out; have it left in.",
      ),
    );
  }
  if (/max-age="?0*[1-9]/i.test(headers["cache-control"] ?? "")) {
    findings.push(
      note(
        `Browsers keep ${url} for a while (${quoted(headers["cache-control"] ?? "")}), and new mentions show late.`,
        'It is sent with "max-age=0"; have that left as it is.',
      ),
    );
  }
  const made = await look(`${url}?doctor=1`);
  if (isSeen(made) && made.status === 200) {
    findings.push(
      note(
        `${url} answers whatever parameters are made up, each time with a copy for the cache.`,
        "Something in between takes them off; have them left on, so that they are refused.",
      ),
    );
  }
  return findings;
}

async function checkPrivateFeed(url: string, look: Look): Promise<Finding> {
  const feed = await look(url);
  if (!isSeen(feed)) return feed;
  if (feed.status === 401) return ok(`${url}, the private feed of mentions, asks for its token`);
  if (feed.status === 404) {
    return note(
      `There is no private feed of mentions at ${url}`,
      "To follow them in a client, set TWTXT_MENTIONS_TOKEN at your host, to what `openssl rand -hex 16` prints.",
    );
  }
  if (feed.status === 200) {
    return fix(
      `${url} is open to everybody.`,
      "Take that file out of your site: the private feed of mentions belongs there.",
    );
  }
  return fix(`${url} answers ${feed.status} to those without a token, not 401.`, "Your host's log may tell why.");
}

function unseen(): Finding {
  const features = FEATURES.filter(({ needs }) => !needs.includes("TWTXT_MENTIONS_TOKEN"));
  const names = features.map(({ name, needs }) => `${name} (${needs.join(", ")})`);
  return note(
    `From outside, no one can see which of these are on: ${names.join("; ")}.`,
    "Each is off as long as its variables are not set at your host.",
  );
}
