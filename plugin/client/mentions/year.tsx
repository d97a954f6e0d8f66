// plugin/client/mentions/year.tsx: a year of mentions: a plot and a table by week and kind, and the most frequent authors.
import type { Child, FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import type { ManagedMention } from "../../mentions/receive/managed-mention.js";
import { StrangersLink } from "../strangers-text.js";

/** The kinds of the plot: likes, reposts and bookmarks say nothing of their own. */
const KINDS = ["mention", "reply", "reaction"] as const;

type Kind = (typeof KINDS)[number];

const WEEKS = 52;
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const WRITERS = 10;

interface Week {
  /** Its first day, a Monday, `YYYY-MM-DD`. */
  start: string;
  counts: Readonly<Record<Kind, number>>;
}

interface Writer {
  name: string;
  /** Their feed or page. */
  url: string;
  count: number;
}

/** The first day of the year that {@link toWeeks} counts. @param now - milliseconds since 1970 */
export function yearStart(now: number): string {
  return dayText(toMonday(now) - (WEEKS - 1) * WEEK_MS);
}

/** The last 52 weeks, oldest first; weeks begin on Monday, UTC. */
export function toWeeks(mentions: readonly ManagedMention[], now: number): Week[] {
  const weeks = new Map<string, Record<Kind, number>>();
  const first = Date.parse(yearStart(now));
  for (let week = 0; week < WEEKS; week += 1) {
    weeks.set(dayText(first + week * WEEK_MS), { mention: 0, reply: 0, reaction: 0 });
  }
  for (const { received, type } of mentions) {
    const counts = weeks.get(dayText(toMonday(Date.parse(received))));
    if (counts && type) counts[type === "mention" || type === "reply" ? type : "reaction"] += 1;
  }
  return [...weeks].map(([start, counts]) => ({ start, counts }));
}

/** The ten most frequent authors. An author is a feed or page. */
export function countWriters(mentions: readonly ManagedMention[]): Writer[] {
  const writers = new Map<string, Writer>();
  for (const { author } of mentions) {
    if (author === null) continue;
    const known = writers.get(author.url) ?? { name: author.name, url: author.url, count: 0 };
    writers.set(author.url, { ...known, count: known.count + 1 });
  }
  return [...writers.values()].sort((a, b) => b.count - a.count || a.url.localeCompare(b.url)).slice(0, WRITERS);
}

function toMonday(instant: number): number {
  const day = Math.floor(instant / DAY_MS);
  // The first of January 1970 was a Thursday.
  return (day - ((day + 3) % 7)) * DAY_MS;
}

function dayText(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

const BAR = 12;
const GAP = 2;
const HEIGHT = 120;
/** For the months under the bars. */
const FOOT = 18;
/** The width of a month in its largest font. */
const MONTH = 40;
/** Fewer mentions are easier to read as a table alone. */
const LEAST_IN_PLOT = 10;
/** A plot of few mentions has low bars. */
const LEAST_TOP = 4;

const NAMES: Readonly<Record<Kind, string>> = {
  mention: "Mentions",
  reply: "Replies",
  reaction: "Reactions",
};

export function YearPage({ weeks, writers }: { weeks: readonly Week[]; writers: readonly Writer[] }) {
  const total = weeks.reduce((sum, { counts }) => sum + sumCounts(counts), 0);
  const table = <Table weeks={weeks.filter(({ counts }) => sumCounts(counts) > 0)} />;
  return (
    <>
      <Tabs current="year" />
      <p>{counted(total, "mention was", "mentions were")} received and shown in the last 52 weeks.</p>
      {total >= LEAST_IN_PLOT ? <PlotAndTable weeks={weeks} table={table} /> : total > 0 && table}
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

const PlotAndTable: FC<{ weeks: readonly Week[]; table: Child }> = ({ weeks, table }) => (
  <>
    <Plot weeks={weeks} />
    <ul class="legend">
      {KINDS.map((kind) => (
        <li>
          <span class={`swatch kind-${kind}`} /> {NAMES[kind]}
        </li>
      ))}
    </ul>
    <details>
      <summary>The same as a table</summary>
      {table}
    </details>
  </>
);

function Plot({ weeks }: { weeks: readonly Week[] }) {
  const top = Math.max(LEAST_TOP, ...weeks.map(({ counts }) => sumCounts(counts)));
  const width = weeks.length * (BAR + GAP);
  return (
    <svg class="plot" viewBox={`0 0 ${width} ${HEIGHT + FOOT}`} role="img" aria-label={formatSummary(weeks)}>
      {weeks.map((week, index) => (
        <Bar week={week} x={index * (BAR + GAP)} scale={HEIGHT / top} />
      ))}
      <line class="axis" x1="0" x2={width} y1={HEIGHT} y2={HEIGHT} />
      {weeks.map(
        // The first day of a month is in the week.
        ({ start }, index) =>
          toLastDay(start).getUTCDate() <= 7 && <Month start={start} x={index * (BAR + GAP)} end={width} />,
      )}
    </svg>
  );
}

/** A month under its first week. The last one ends with the last bar, if it would be cut off otherwise. */
function Month({ start, x, end }: { start: string; x: number; end: number }) {
  const place = x + MONTH > end ? { x: end - GAP, "text-anchor": "end" } : { x };
  return (
    <text {...place} y={HEIGHT + 14}>
      {toLastDay(start).toLocaleDateString("en", { month: "short", timeZone: "UTC" })}
    </text>
  );
}

function Bar({ week: { start, counts }, x, scale }: { week: Week; x: number; scale: number }) {
  let y = HEIGHT;
  return (
    <g>
      <title>{`Week of ${start}: ${sumCounts(counts)}`}</title>
      {KINDS.map((kind) => {
        const height = counts[kind] * scale;
        y -= height;
        return height > 0 && <rect class={`kind-${kind}`} x={x} y={y} width={BAR} height={height} />;
      })}
    </g>
  );
}

const Table: FC<{ weeks: readonly Week[] }> = ({ weeks }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Week of</th>
        {KINDS.map((kind) => (
          <th scope="col">{NAMES[kind]}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {weeks.map(({ start, counts }) => (
        <tr>
          <th scope="row">{start}</th>
          {KINDS.map((kind) => (
            <td>{counts[kind]}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

function sumCounts(counts: Week["counts"]): number {
  return KINDS.reduce((sum, kind) => sum + counts[kind], 0);
}

function formatSummary(weeks: readonly Week[]): string {
  const busiest = weeks.reduce((one, other) => (sumCounts(other.counts) > sumCounts(one.counts) ? other : one));
  const most = sumCounts(busiest.counts);
  const peak = most > 0 ? ` The most in a week were ${most}, in the week of ${busiest.start}.` : "";
  return `Mentions a week, by kind.${peak} The table below has all numbers.`;
}

function toLastDay(start: string): Date {
  return new Date(Date.parse(start) + 6 * DAY_MS);
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
