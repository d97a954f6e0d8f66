// plugin/client/health/health-room.tsx: the room of the site's health: what `doctor` finds, the last sends, data and versions.
import { Hono } from "hono";
import type { FC } from "hono/jsx";
import { counted, DATES, sizeText } from "../../author/amounts.js";
import { type Finding, sumFaults } from "../../author/doctor/check.js";
import { createChecks } from "../../author/doctor/examine.js";
import { type SiteHealth, siteHealth } from "../../author/doctor/site-health.js";
import { typed } from "../../author/invocation.js";
import { describeOutcome, sumOutcomes } from "../../author/mentions/sent-mentions.js";
import { TwtxtError } from "../../errors.js";
import { NETWORK_NAMES, NETWORKS } from "../../options/syndicate.js";
import type { SiteState } from "../../site/site-state.js";
import { BackgroundRun } from "../background-run.js";
import type { ClientEnv } from "../client-request.js";
import type { CreateRoom } from "../notices.js";
import { Fact, Fault, Form, Sentence, Submit } from "../page-parts.js";

const HEALTH = "/health";
const ICON = "M3 12.5h4.5l2.5-7l4 13.5l2.5-6.5H21";
const MAX_SENT = 20;

export const healthRoom: CreateRoom = (context) => {
  const { choice, machine } = context;
  const checkup = new BackgroundRun<Finding>(context);
  const routes = new Hono<ClientEnv>();
  routes.get("/", async (c) => {
    const health = await siteHealth(choice, machine, MAX_SENT);
    return c.render(<HealthPage health={health} checkup={checkup} />, { title: "Health" });
  });
  context.notices.addForm(routes, "/", HEALTH, async () => {
    await checkup.start(async () => {
      const checks = await createChecks(null, { ...choice, address: undefined, flood: false }, machine);
      if (checks === null) throw new TwtxtError("no-settings", "There is no built site in this folder.");
      return { subject: null, results: checks };
    });
    return null;
  });
  return { title: "Health", path: HEALTH, icon: ICON, keys: [{ key: "c", does: "checks the site" }], routes };
};

const HealthPage: FC<{ health: SiteHealth; checkup: BackgroundRun<Finding> }> = ({ health, checkup }) => {
  const { data, versions } = health;
  const passed = checkup.results.filter(({ level }) => level === "ok");
  return (
    <>
      <Form class="inline">
        <Submit class="primary" data-key="c" label={`Check ${new URL(health.url).host} now`} />
        <span class="muted">
          Reads your site as a stranger does, and sends it up to 130 invalid mentions to see whether it stops a flood.
        </span>
      </Form>
      <div id="findings" data-live>
        <Findings checkup={checkup} />
      </div>
      <h2>Sent mentions</h2>
      <div id="sent" data-live>
        <Sent health={health} />
      </div>
      {health.told !== null && <ToldFacts url={health.url} told={health.told} />}
      <h2>On this machine</h2>
      <dl class="facts">
        <Fact name="Last build">{DATES.format(health.built)}</Fact>
        {data !== null && (
          <Fact name="Data">{`${data.bytes === null ? "" : `${sizeText(data.bytes)} `}in ${data.place}`}</Fact>
        )}
        <Fact name="eleventy-plugin-twtxt">{versions.plugin}</Fact>
        {versions.eleventy !== null && <Fact name="Eleventy">{versions.eleventy}</Fact>}
        <Fact name="Node.js">{versions.node}</Fact>
        {versions.site !== null && <Fact name="Your site, in package.json">{versions.site}</Fact>}
      </dl>
      <div id="passed" data-live>
        {passed.length > 0 && (
          <details id="passed-checks">
            <summary>{counted(passed.length, "check")} passed</summary>
            <FindingList findings={passed} />
          </details>
        )}
      </div>
    </>
  );
};

const ToldFacts: FC<{ url: string; told: SiteState }> = ({ url, told }) => (
  <>
    <h2>At {new URL(url).host}</h2>
    <dl class="facts">
      {NETWORKS.map((network) => {
        const why = told.refused?.[network];
        return why && <Fact name={`Copies on ${NETWORK_NAMES[network]}`}>{`not posted: ${why}`}</Fact>;
      })}
      {Object.entries(told.unread ?? {}).map(([url, why]) => (
        <Fact name="Answers not read">{`${url}: ${why}`}</Fact>
      ))}
      <Fact name="Messages">{amountText(told.messages)}</Fact>
      <Fact name="Files">{amountText(told.blobs)}</Fact>
      <Fact name="Stored values">{String(told.values)}</Fact>
      <Fact name="eleventy-plugin-twtxt">{told.version}</Fact>
      <Fact name="Node.js">{told.node}</Fact>
    </dl>
  </>
);

function amountText({ count, bytes }: SiteState["messages"]): string {
  return count === 0 ? "none" : `${count}, ${sizeText(bytes)}`;
}

const TITLES = { fix: "To fix", note: "To know" };

const Findings: FC<{ checkup: BackgroundRun<Finding> }> = ({ checkup }) => {
  const { results: findings, startedAt, isRunning, fault } = checkup;
  if (startedAt === null) return <p class="muted">Not checked since the client was started.</p>;
  return (
    <>
      {isRunning ? (
        <p data-busy="">
          Checking… (up to half a minute) <span class="unscripted">Reload this page to see what was found.</span>
        </p>
      ) : (
        <p>{`${sumFaults(findings)}, checked ${DATES.format(startedAt)}.`}</p>
      )}
      <Fault text={fault} />
      {Object.entries(TITLES).map(([level, title]) => {
        const found = findings.filter((one) => one.level === level);
        return (
          found.length > 0 && (
            <section>
              <h2>{title}</h2>
              <FindingList findings={found} />
            </section>
          )
        );
      })}
    </>
  );
};

const FindingList: FC<{ findings: readonly Finding[] }> = ({ findings }) => (
  <ul class="items findings">
    {findings.map(({ what, todo }) => (
      <li data-item tabindex={-1}>
        <p>
          <Sentence text={what} />
        </p>
        {todo !== undefined && (
          <p class="muted">
            What to do: <Sentence text={todo} />
          </p>
        )}
      </li>
    ))}
  </ul>
);

const UNSENT: Readonly<Record<SiteHealth["host"], string>> = {
  netlify: "Nothing was sent. Your site sends the mentions of new posts after each deploy.",
  node: `Nothing was sent. While \`${typed("serve")}\` is running, it sends the mentions of each new build.`,
  static: `Nothing was sent. After each deploy, type \`${typed("send")}\`.`,
};

/** What was sent; if the site could not be asked, what this machine knows about that. */
const Sent: FC<{ health: SiteHealth }> = ({ health: { url, fault, sent, host } }) => {
  const instead = sent
    ? "This is what this machine knows, not what the site knows."
    : "Only the site knows what it has sent.";
  const source = fault !== null && `${new URL(url).host} could not be asked. ${fault} ${instead}`;
  const outcomes = sent && sumOutcomes(sent.counts);
  const sum = outcomes ? `${outcomes}.` : sent && UNSENT[host];
  return (
    <>
      {[source, sum].map(
        (text) =>
          text && (
            <p class="muted">
              <Sentence text={text} />
            </p>
          ),
      )}
      <ul class="items findings">
        {sent?.mentions.map((mention) => (
          <li data-item tabindex={-1}>
            <p class="by">
              {mention.isLink ? "link" : `@${mention.nick ?? ""}`} {mention.target}
            </p>
            <p class="muted">{describeOutcome(mention, (time) => DATES.format(new Date(time)))}</p>
          </li>
        ))}
      </ul>
    </>
  );
};
