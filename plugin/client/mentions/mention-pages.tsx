// plugin/client/mentions/mention-pages.tsx: lists of mentions, each with its decisions, and the questions before some of them.
import type { Child, FC } from "hono/jsx";
import { counted } from "../../author/amounts.js";
import type { SiteMentions } from "../../author/mentions/site-mentions.js";
import type { MentionState } from "../../mentions/mention.js";
import type { ManagedMention } from "../../mentions/receive/managed-mention.js";
import { isFeedUrl } from "../../url.js";
import { ActionButton, Form, Question } from "../form.js";
import { type OtherPages, PageLinks } from "../list-pages.js";
import { Time } from "../page-texts.js";
import { MentionAbout, StrangersLink, StrangersText, Via } from "../strangers-text.js";

interface List extends Pick<SiteMentions, "describe"> {
  state: MentionState;
  mentions: readonly ManagedMention[];
  /** Number of held mentions. */
  held: number;
  /** Number of mentions that are not verified yet. */
  pending: number;
  pages: OtherPages;
  /** Mentions received after this time are new; `null` for none. */
  seen: string | null;
}

const TABS = [
  ["held", "Held", "/mentions?state=held"],
  ["shown", "Shown", "/mentions?state=shown"],
  ["rejected", "Rejected", "/mentions?state=rejected"],
  ["year", "Last year", "/mentions/year"],
] as const;

const EMPTY: Readonly<Record<MentionState, string>> = {
  held: "Nothing waits for your approval.",
  shown: "No one has mentioned you yet.",
  rejected: "You have rejected nothing.",
};

export const ListPage: FC<List> = ({ describe, state, mentions, held, pending, pages, seen }) => (
  <>
    <Tabs current={state} held={held} />
    <div id="pending" data-live>
      {pending > 0 && <Pending count={pending} />}
    </div>
    <ul id="mentions" class="items" data-live>
      {mentions.map((mention) => (
        <MentionItem {...{ mention, describe }} isNew={seen !== null && mention.received > seen} />
      ))}
    </ul>
    <div id="rest" data-live>
      {mentions.length === 0 && <p class="muted">{EMPTY[state]}</p>}
      <PageLinks pages={pages} of="mentions" />
    </div>
  </>
);

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

const Pending: FC<{ count: number }> = ({ count }) => (
  <Form action="/mentions/verify" class="actions">
    <span>{counted(count, "mention is", "mentions are")} pending: your site could not read the source yet.</span>
    <button type="submit">Verify now</button>
  </Form>
);

export const BlockPage: FC<{ host: string }> = ({ host }) => (
  <>
    <p>
      This rejects all mentions from {host} that are shown or held. Rejected mentions stay hidden, even if they are sent
      again.
    </p>
    <Question action="/mentions/block" fields={{ host }} yes="Reject all of them" back="/mentions" />
    <h2>Refuse new mentions</h2>
    <p>
      Your site decides with each build which hosts it refuses. Add this to the options of the plugin, build and deploy:
    </p>
    <pre>{`mentions: { block: [${JSON.stringify(host)}] }`}</pre>
  </>
);

export function ForgetPage({ mention, describe }: BylineProps) {
  const { id, state } = mention;
  return (
    <>
      <p>
        <Byline {...{ mention, describe }} />
      </p>
      <p>
        Forgetting deletes it for good, and keeps no record of it. If it is sent again, it comes back. To hide it
        permanently, reject it instead.
      </p>
      <Question action="/mentions/forget" fields={{ id, state }} yes="Forget it" back={`/mentions?state=${state}`} />
    </>
  );
}

function MentionItem({ mention, describe, isNew }: BylineProps & { isNew: boolean }) {
  const { id, text, html, source } = mention;
  return (
    <li id={`mention-${id}`} class={isNew ? "unread" : undefined} data-item tabindex={-1}>
      <p class="mention-by">
        <Byline {...{ mention, describe }} />
        {isNew && <span class="count"> new</span>}
      </p>
      {text !== null && text !== "" && <StrangersText text={text} html={html} source={source} />}
      <Decisions mention={mention} />
    </li>
  );
}

interface BylineProps extends Pick<SiteMentions, "describe"> {
  mention: ManagedMention;
}

/** The author, type, page and time of a mention. */
function Byline({ mention, describe }: BylineProps) {
  const { author, source, url = source, published, received } = mention;
  const name = author?.name || readHost(source);
  return (
    <>
      <strong>
        <StrangersLink href={author?.page ?? author?.url ?? source}>{name}</StrangersLink>
      </strong>
      <Via source={source} author={author} /> <MentionAbout sentence={describe(mention)} />,{" "}
      <StrangersLink href={url}>
        <Time at={published ?? received} />
      </StrangersLink>
    </>
  );
}

function Decisions({ mention }: { mention: ManagedMention }) {
  const { id, state, source, version } = mention;
  const decide = (to: "shown" | "rejected", key: string, label: string): Child => (
    <ActionButton
      action="/mentions/decide"
      fields={{ id, version: version ?? "", state, to }}
      shortcut={key}
      class={to === "shown" ? "primary" : undefined}
    >
      {label}
    </ActionButton>
  );
  return (
    <div class="actions">
      {state !== "shown" && decide("shown", "a", "Approve")}
      {state !== "rejected" && decide("rejected", "x", "Reject")}
      <a class="button" data-key="r" href={`/write?reply-to=${encodeURIComponent(source)}`}>
        Reply
      </a>
      <a class="button quiet" data-key="b" href={`/mentions/block?host=${encodeURIComponent(readHost(source))}`}>
        Block<span class="visually-hidden"> {readHost(source)}</span>
      </a>
      <a class="button quiet" data-key="d" href={`/mentions/forget?id=${id}`}>
        Forget
      </a>
    </div>
  );
}

function readHost(url: string): string {
  return isFeedUrl(url) ? new URL(url).hostname : url;
}
