// plugin/client/mentions/year-page.tsx: the plot of a year's mentions, the same numbers as a table, and who wrote most.

import type { Child } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import { StrangersLink } from "../strangers-text.js";
import { Tabs } from "./mention-pages.js";
import { KINDS, type Kind, type Week, type Writer } from "./year.js";

const DAY_MS = 86_400_000;
const BAR = 12;
const GAP = 2;
const HEIGHT = 120;
/** For the months under the bars. */
const FOOT = 18;
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
  const total = weeks.reduce((sum, { counts }) => sum + totalOf(counts), 0);
  const table = <Table weeks={weeks.filter(({ counts }) => totalOf(counts) > 0)} />;
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

function PlotAndTable({ weeks, table }: { weeks: readonly Week[]; table: Child }) {
  return (
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
}

function Plot({ weeks }: { weeks: readonly Week[] }) {
  const top = Math.max(LEAST_TOP, ...weeks.map(({ counts }) => totalOf(counts)));
  const width = weeks.length * (BAR + GAP);
  return (
    <svg class="plot" viewBox={`0 0 ${width} ${HEIGHT + FOOT}`} role="img" aria-label={summaryOf(weeks)}>
      {weeks.map((week, index) => (
        <Bar week={week} x={index * (BAR + GAP)} scale={HEIGHT / top} />
      ))}
      <line class="axis" x1="0" x2={width} y1={HEIGHT} y2={HEIGHT} />
      {weeks.map(({ start }, index) =>
        isMonthStart(start) ? (
          <text x={index * (BAR + GAP)} y={HEIGHT + 14}>
            {monthOf(start)}
          </text>
        ) : null,
      )}
    </svg>
  );
}

function Bar({ week: { start, counts }, x, scale }: { week: Week; x: number; scale: number }) {
  let y = HEIGHT;
  return (
    <g>
      <title>{`Week of ${start}: ${totalOf(counts)}`}</title>
      {KINDS.map((kind) => {
        const height = counts[kind] * scale;
        y -= height;
        return height > 0 && <rect class={`kind-${kind}`} x={x} y={y} width={BAR} height={height} />;
      })}
    </g>
  );
}

function Table({ weeks }: { weeks: readonly Week[] }) {
  return (
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
}

function totalOf(counts: Week["counts"]): number {
  return KINDS.reduce((sum, kind) => sum + counts[kind], 0);
}

function summaryOf(weeks: readonly Week[]): string {
  const busiest = weeks.reduce((one, other) => (totalOf(other.counts) > totalOf(one.counts) ? other : one));
  const most = totalOf(busiest.counts);
  const peak = most > 0 ? ` The most in a week were ${most}, in the week of ${busiest.start}.` : "";
  return `Mentions a week, by kind.${peak} The table below has all numbers.`;
}

/** Whether the first day of a month is in the week. */
function isMonthStart(start: string): boolean {
  return lastDayOf(start).getUTCDate() <= 7;
}

/** The month of the week's last day. */
function monthOf(start: string): string {
  return lastDayOf(start).toLocaleDateString("en", { month: "short", timeZone: "UTC" });
}

function lastDayOf(start: string): Date {
  return new Date(Date.parse(start) + 6 * DAY_MS);
}
