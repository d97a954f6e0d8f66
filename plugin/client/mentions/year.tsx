// plugin/client/mentions/year.tsx: a year of mentions: a table by month and kind, and the most frequent authors.
import type { FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { groupBy } from "../../groups.js";
import type { ManagedMention } from "../../mentions/receive/managed-mention.js";
import { MAX_MANAGED_PAGE } from "../../site/routes.js";
import { StrangersLink } from "../strangers-text.js";

/** Likes, reposts and bookmarks say nothing of their own. */
const KINDS = { mention: "Mentions", reply: "Replies", reaction: "Reactions" } as const;

type Kind = keyof typeof KINDS;

const NAMES = Object.entries(KINDS) as [Kind, string][];
const MONTHS = 12;
const WRITERS = 10;

/** How many mentions are read for the page, so that a site with 100,000 shows it within a second. */
export const MOST_OF_YEAR = MAX_MANAGED_PAGE;

/** Mentions by kind. */
type Counts = Record<Kind, number>;

interface Writer {
  name: string;
  /** Their feed or page. */
  url: string;
  count: number;
}

/** The first of the months that {@link countMonths} counts, `YYYY-MM`. @param now - milliseconds since 1970 */
export function yearStart(now: number): string {
  const date = new Date(now);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - MONTHS + 1)).toISOString().slice(0, 7);
}

/** The last 12 months, UTC, by `YYYY-MM`, oldest first. */
export function countMonths(mentions: readonly ManagedMention[], now: number): Map<string, Counts> {
  const months = new Map<string, Counts>();
  const first = new Date(`${yearStart(now)}-01`);
  for (let month = 0; month < MONTHS; month += 1) {
    const start = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month);
    months.set(new Date(start).toISOString().slice(0, 7), { mention: 0, reply: 0, reaction: 0 });
  }
  for (const { received, type } of mentions) {
    const counts = months.get(received.slice(0, 7));
    if (counts && type) counts[type === "mention" || type === "reply" ? type : "reaction"] += 1;
  }
  return months;
}

/** The ten most frequent authors. An author is a feed or page. */
export function countWriters(mentions: readonly ManagedMention[]): Writer[] {
  const authors = mentions.flatMap(({ author }) => author ?? []);
  return [...groupBy(authors, ({ url }) => url)]
    .map(([url, named]) => ({ name: named[0]?.name ?? url, url, count: named.length }))
    .sort((a, b) => b.count - a.count || a.url.localeCompare(b.url))
    .slice(0, WRITERS);
}

/** @param mentions - those shown since {@link yearStart}, newest first, at least the newest {@link MOST_OF_YEAR} */
export function YearPage({ mentions, now }: { mentions: readonly ManagedMention[]; now: number }) {
  const months = countMonths(mentions, now);
  const writers = countWriters(mentions);
  const total = [...months.values()].reduce((sum, counts) => sum + sumCounts(counts), 0);
  const oldest = mentions.at(-1)?.received.slice(0, 10);
  return (
    <>
      <Tabs current="year" />
      {mentions.length < MOST_OF_YEAR ? (
        <p>{counted(total, "mention was", "mentions were")} received and shown in the last 12 months.</p>
      ) : (
        <p>
          The newest {counted(mentions.length, "mention")} are counted, those since <time>{oldest}</time>.
        </p>
      )}
      {total > 0 && <Table months={months} />}
      {writers.length > 0 && <h2>Who writes most</h2>}
      <ol class="writers">
        {writers.map(({ name, url, count }) => (
          <li>
            <StrangersLink href={url}>{name}</StrangersLink> <span class="count">{count}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Has a bar for the sum of each month, which is in its other cells. */
const Table: FC<{ months: Map<string, Counts> }> = ({ months }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Month</th>
        {NAMES.map(([, name]) => (
          <th scope="col">{name}</th>
        ))}
        <td />
      </tr>
    </thead>
    <tbody>
      {[...months].map(([month, counts]) => (
        <tr>
          <th scope="row">{month}</th>
          {NAMES.map(([kind]) => (
            <td>{counts[kind]}</td>
          ))}
          <td aria-hidden="true">
            <meter max={Math.max(...[...months.values()].map(sumCounts))} value={sumCounts(counts)} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

function sumCounts(counts: Counts): number {
  return counts.mention + counts.reply + counts.reaction;
}

const TABS = [
  ["held", "Held", "/mentions?state=held"],
  ["shown", "Shown", "/mentions?state=shown"],
  ["rejected", "Rejected", "/mentions?state=rejected"],
  ["year", "Last year", "/mentions/year"],
] as const;

/** @param held - number of held mentions, if known */
export const Tabs: FC<{ current: (typeof TABS)[number][0]; held?: number }> = ({ current, held = 0 }) => (
  <nav id="states" aria-label="Lists of mentions" data-live>
    <ul class="tabs">
      {TABS.map(([name, label, href]) => (
        <li>
          <a href={href} aria-current={name === current ? "page" : undefined}>
            {label}
            {name === "held" && held > 0 && <span class="count"> {held}</span>}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);
