// plugin/client/mentions/mention-item.tsx: one mention with its decisions.

import type { Child } from "hono/jsx";
import type { ManagedMention } from "../../mentions/receive/manage.js";
import { isWeb } from "../../site/safe-markup.js";
import { Fields, Form } from "../layout.js";
import { MentionAbout } from "../mention-about.js";
import { StrangersLink, StrangersText } from "../strangers-text.js";
import { Time } from "../time.js";

export function MentionItem({ mention }: { mention: ManagedMention }) {
  const { id, text, source } = mention;
  return (
    <li id={`mention-${id}`} data-item tabindex={-1}>
      <p class="mention-by">
        <Byline mention={mention} />
      </p>
      {text !== null && text !== "" && <StrangersText text={text} source={source} />}
      <Decisions mention={mention} />
    </li>
  );
}

/** Who says what about which page, and when. */
export function Byline({ mention }: { mention: ManagedMention }) {
  const { author, type, source, target, under, published, received } = mention;
  const name = author?.name || hostOf(source);
  return (
    <>
      <strong>
        <StrangersLink href={author?.url ?? source}>{name}</StrangersLink>
      </strong>{" "}
      <MentionAbout type={type} target={target} under={under} />,{" "}
      <StrangersLink href={source}>
        <Time at={published ?? received} />
      </StrangersLink>
    </>
  );
}

function Decisions({ mention }: { mention: ManagedMention }) {
  const { id, state, source, version } = mention;
  const decide = (to: "shown" | "rejected", key: string, label: string): Child => (
    <Form action="/mentions/decide">
      <Fields fields={{ id, version: version ?? "", from: state, to, list: state }} />
      <button type="submit" data-key={key} class={to === "shown" ? "primary" : undefined}>
        {label}
      </button>
    </Form>
  );
  return (
    <div class="actions">
      {state !== "shown" && decide("shown", "a", "Approve")}
      {state !== "rejected" && decide("rejected", "x", "Reject")}
      <a class="button" data-key="r" href={`/write?reply-to=${encodeURIComponent(source)}`}>
        Reply
      </a>
      <a class="button quiet" data-key="b" href={`/mentions/block?host=${encodeURIComponent(hostOf(source))}`}>
        Block<span class="visually-hidden"> {hostOf(source)}</span>
      </a>
      <a class="button quiet" data-key="d" href={`/mentions/forget?id=${id}&state=${state}`}>
        Forget
      </a>
    </div>
  );
}

function hostOf(url: string): string {
  return isWeb(url) ? new URL(url).hostname : url;
}
