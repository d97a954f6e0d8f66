// plugin/client/health.tsx: the room of the site's health: what `doctor` finds, the last sends, data and versions.

import { Hono } from "hono";
import type { FC } from "hono/jsx";
import { counted, sizeText } from "../author/amounts.js";
import type { Finding } from "../author/doctor/check.js";
import { checksOf } from "../author/doctor/examine.js";
import { outcomeOf, type ReportedMention } from "../author/sent-mentions.js";
import { type SiteHealth, siteHealth } from "../author/site-health.js";
import { TwtxtError } from "../errors.js";
import type { ClientEnv } from "./client-env.js";
import { DATES } from "./dates.js";
import { Form } from "./layout.js";
import type { ClientContext, CreateRoom } from "./room.js";

const PATH = "/health";
const MAX_SENT = 20;
const LEVELS = { fix: "To fix", note: "To know", ok: "Good" } as const;

export const healthRoom: CreateRoom = (context) => {
  const checkup = new Checkup(context);
  const routes = new Hono<ClientEnv>();
  routes.get("/", async (c) => {
    const health = await siteHealth(context.choice, context.machine);
    return c.render(<HealthPage health={health} checkup={checkup} />, { title: "Health" });
  });
  routes.post("/", (c) =>
    context.notices.act(c, PATH, async () => {
      await checkup.start();
      return { text: "Checking your site as others see it." };
    }),
  );
  return { title: "Health", path: PATH, keys: [{ key: "c", does: "checks the site" }], routes };
};

/** One check of the site at a time, and the findings of the last one. */
class Checkup {
  readonly #context: Pick<ClientContext, "choice" | "machine" | "ending">;
  findings: Finding[] = [];
  /** `null` before the first one. */
  startedAt: number | null = null;
  isRunning = false;
  /** Why it stopped early. */
  fault: string | null = null;

  constructor(context: Pick<ClientContext, "choice" | "machine" | "ending">) {
    this.#context = context;
  }

  /** Resolves when it has begun. @throws TwtxtError `no-settings` */
  async start(): Promise<void> {
    if (this.isRunning) return;
    const { choice, machine } = this.#context;
    const checks = await checksOf(null, { ...choice, address: undefined, flood: false }, machine);
    if (checks === null) throw new TwtxtError("no-settings", "There is no built site in this folder.");
    Object.assign(this, { findings: [], startedAt: machine.now(), isRunning: true, fault: null });
    void this.#collect(checks);
  }

  async #collect(checks: AsyncGenerator<Finding>): Promise<void> {
    try {
      for await (const finding of checks) {
        this.findings.push(finding);
        if (this.#context.ending.aborted) return;
      }
    } catch (error) {
      this.fault = error instanceof TwtxtError ? error.message : String(error);
    } finally {
      this.isRunning = false;
    }
  }
}

const HealthPage: FC<{ health: SiteHealth; checkup: Checkup }> = ({ health, checkup }) => {
  const { url, built, versions, data } = health;
  return (
    <>
      <Form action={PATH} class="inline">
        <button type="submit" class="primary" data-key="c">
          Check {new URL(url).host} now
        </button>
        <span class="muted">Reads your site as others do, and tests its rate limit with 70 invalid mentions.</span>
      </Form>
      <div id="findings" data-live>
        <Findings checkup={checkup} />
      </div>
      <h2>Sent</h2>
      <div id="sent" data-live>
        <Sent sent={data?.sent ?? null} />
      </div>
      <h2>Data and versions</h2>
      <dl class="facts">
        <Fact name="Last build" value={DATES.format(built)} />
        {data && <Fact name="Data" value={`${sizeText(data.bytes)} in ${data.folder}`} />}
        {!data && <Fact name="Data" value="in Netlify Blobs, which only the site itself can access" />}
        <Fact name="eleventy-plugin-twtxt" value={versions.plugin} />
        <Fact name="Node.js" value={versions.node} />
      </dl>
    </>
  );
};

const Fact: FC<{ name: string; value: string }> = ({ name, value }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

const Findings: FC<{ checkup: Checkup }> = ({ checkup }) => {
  const { findings, startedAt, isRunning, fault } = checkup;
  if (startedAt === null) return <p class="muted">Not checked since the client was started.</p>;
  const faults = findings.filter(({ level }) => level === "fix").length;
  const sum = `${faults === 0 ? "Nothing" : counted(faults, "thing")} to fix`;
  return (
    <>
      <p data-busy={isRunning ? "" : undefined}>
        {isRunning
          ? `Checking: ${counted(findings.length, "finding")} so far. Without scripts, reload this page.`
          : `${sum}, checked ${DATES.format(startedAt)}.`}
      </p>
      {fault !== null && <p class="notice failure">{fault}</p>}
      {(["fix", "note", "ok"] as const).map((level) => (
        <FindingList level={level} findings={findings.filter((one) => one.level === level)} />
      ))}
    </>
  );
};

const FindingList: FC<{ level: Finding["level"]; findings: readonly Finding[] }> = ({ level, findings }) =>
  findings.length === 0 ? null : (
    <section>
      <h2>{LEVELS[level]}</h2>
      <ul class="items">
        {findings.map(({ what, todo }) => (
          <li data-item tabindex={-1}>
            <p>{what}</p>
            {todo !== undefined && <p class="muted">What to do: {todo}</p>}
          </li>
        ))}
      </ul>
    </section>
  );

/** The newest ones, those that wait or failed first. */
const Sent: FC<{ sent: readonly ReportedMention[] | null }> = ({ sent }) => {
  if (sent === null)
    return <p class="muted">Your site sends on Netlify. The logs of its functions show what was sent.</p>;
  if (sent.length === 0) return <p class="muted">No mentions were sent yet.</p>;
  const isDone = ({ outcome }: ReportedMention) => outcome === "sent";
  const sorted = sent.toSorted((a, b) => Number(isDone(a)) - Number(isDone(b)) || (a.timestamp < b.timestamp ? 1 : -1));
  return (
    <ul class="items">
      {sorted.slice(0, MAX_SENT).map((mention) => (
        <li data-item tabindex={-1}>
          <p class="by">
            {mention.isLink ? "link" : `@${mention.nick ?? ""}`} {mention.target}
          </p>
          <p class="muted">{outcomeOf(mention)}</p>
        </li>
      ))}
    </ul>
  );
};
