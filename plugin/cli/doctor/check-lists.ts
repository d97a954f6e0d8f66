// plugin/cli/doctor/check-lists.ts: the public list of mentions, the author's private feed, and features that cannot be checked.
import { FEATURES } from "../../host/channels.js";
import { PATHS } from "../../site/routes.js";
import { type Answer, type Finding, fix, isAnswer, jsonIn, note, ok, type Probe, quoted, typeOf } from "./finding.js";

export interface ListUrls {
  mentionsJson: string;
  mentionsFeed: string;
}

/** The lists of another site: beside its endpoint. */
export function listsBeside(endpoint: string): ListUrls {
  const at = (path: string) => new URL(`.${path}`, endpoint).href;
  return { mentionsJson: at(PATHS.mentionsJson), mentionsFeed: at(PATHS.mentionsFeed) };
}

/** @see PROTOCOL 2.4, 2.5 and 7 */
export async function checkMentionLists({ mentionsJson, mentionsFeed }: ListUrls, probe: Probe): Promise<Finding[]> {
  return [...(await checkList(mentionsJson, probe)), await checkPrivateFeed(mentionsFeed, probe), uncheckable()];
}

async function checkList(url: string, probe: Probe): Promise<Finding[]> {
  const list = await probe(url);
  if (!isAnswer(list)) return [list];
  if (list.status !== 200 || typeOf(list) !== "application/json" || !Array.isArray(jsonIn(list).mentions)) {
    return [
      fix(
        `${url} is not a list of mentions: it answers ${list.status}.`,
        `Deploy the site with its functions. If its host only serves files, give the plugin the option host: "static" and build the site. If its endpoint is in its own folder, run doctor in the folder of the site's sources.`,
      ),
    ];
  }
  return [ok(`${url} lists the mentions`), ...checkOrigins(list), ...(await checkCaching(list, probe))];
}

function checkOrigins({ headers, url }: Answer): Finding[] {
  if (headers["access-control-allow-origin"] === "*") return [];
  return [
    fix(
      `Pages of other sites cannot read ${url}`,
      'A proxy removes "Access-Control-Allow-Origin: *"; configure it to keep that header.',
    ),
  ];
}

async function checkCaching({ headers, url }: Answer, probe: Probe): Promise<Finding[]> {
  const findings: Finding[] = [];
  const again = headers.etag === undefined ? null : await probe(url, { headers: { "if-none-match": headers.etag } });
  if (again === null || !isAnswer(again) || again.status !== 304) {
    findings.push(
      note(
        `${url} is downloaded as a whole each time, changed or not.`,
        "A proxy removes its ETag; configure it to keep that header.",
      ),
    );
  }
  if (/max-age="?0*[1-9]/i.test(headers["cache-control"] ?? "")) {
    findings.push(
      note(
        `Browsers cache ${url} (${quoted(headers["cache-control"] ?? "")}), so new mentions appear late.`,
        'A proxy changes "max-age=0"; configure it to keep that value.',
      ),
    );
  }
  const invented = await probe(`${url}?doctor=1`);
  if (isAnswer(invented) && invented.status === 200) {
    findings.push(
      note(
        `${url} answers with any made-up parameters, and each fills the cache with a copy.`,
        "A proxy removes the parameters; configure it to keep them, so that they are refused.",
      ),
    );
  }
  return findings;
}

async function checkPrivateFeed(url: string, probe: Probe): Promise<Finding> {
  const feed = await probe(url);
  if (!isAnswer(feed)) return feed;
  if (feed.status === 401) return ok(`${url}, the private feed of mentions, requires its token`);
  if (feed.status === 404) {
    return note(
      `There is no private feed of mentions at ${url}`,
      "To follow your mentions in a client, set TWTXT_MENTIONS_TOKEN at your host to the output of `openssl rand -hex 16`.",
    );
  }
  if (feed.status === 200) {
    return fix(
      `${url} is public.`,
      "Delete that file from your site: its path belongs to the private feed of mentions.",
    );
  }
  return fix(`${url} answers ${feed.status} without a token, not 401.`, "Your host's log may say why.");
}

function uncheckable(): Finding {
  const features = FEATURES.filter(({ variables }) => !variables.includes("TWTXT_MENTIONS_TOKEN"));
  const names = features.map(({ name, variables }) => `${name} (${variables.join(", ")})`);
  return note(
    `From outside, no one can see which of these are on: ${names.join("; ")}.`,
    "Each is off unless its variables are set at your host.",
  );
}
