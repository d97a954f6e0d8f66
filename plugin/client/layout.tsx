// plugin/client/layout.tsx: what all pages of the client share: navigation, notices, help of keys, forms.
import type { Child, FC, PropsWithChildren } from "hono/jsx";
import { useRequestContext } from "hono/jsx-renderer";
import { typed } from "../author/invocation.js";
import type { ClientEnv, ShownNotice } from "./client-env.js";
import { Navigation } from "./navigation.js";
import type { KeyHelp, Room } from "./room.js";
import { Sentence } from "./sentence.js";
import { CSRF_FIELD } from "./session.js";

declare module "hono" {
  interface ContextRenderer {
    // biome-ignore lint/style/useShorthandFunctionType: merged with hono's interface
    (content: Child | Promise<Child>, page: { title: string }): Response | Promise<Response>;
  }
}

/** Where a page is. */
export interface Place {
  /** The host of the site; `null` if there is none here. */
  site: string | null;
  rooms: readonly Room[];
  /** `null` for pages outside of rooms. */
  room: Room | null;
}

const KEYS: readonly KeyHelp[] = [
  { key: "j", does: "to the next item" },
  { key: "k", does: "to the previous item" },
  { key: "?", does: "shows these keys" },
];

/** A page of a room. */
export function Page({ title, place, children }: PropsWithChildren<{ title: string; place: Place }>) {
  const c = useRequestContext<ClientEnv>();
  const { room, rooms, site } = place;
  return (
    <html lang="en">
      <Head title={room === null || room.title === title ? title : `${title} · ${room.title}`} />
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="side">
          {site && <p class="site">{site}</p>}
          <Navigation rooms={rooms} current={room} />
        </header>
        <main id="main" tabindex={-1}>
          <h1>{title}</h1>
          <p id="announced" class="visually-hidden" role="status" />
          <NoticeText notice={c.get("notice") ?? null} />
          {children}
          <p id="unanswered" class="notice" hidden>
            The client was ended, or started again since. Copy what you typed and have not saved. Then open the link
            that <code>{typed("client")}</code> shows.
          </p>
        </main>
        <KeyDialog keys={[...KEYS, ...(room?.keys ?? [])]} />
      </body>
    </html>
  );
}

/** A page without a session, or about an error outside of a room. */
export const BarePage: FC<PropsWithChildren<{ title: string; goesTo?: string }>> = ({ title, goesTo, children }) => (
  <html lang="en">
    <Head title={title}>{goesTo && <meta http-equiv="refresh" content={`0;url=${goesTo}`} />}</Head>
    <body class="bare">
      <main>
        <h1>{title}</h1>
        {children}
      </main>
    </body>
  </html>
);

/** A form that changes something. It works without script; the session's token is added. */
export function Form({
  children,
  ...form
}: PropsWithChildren<{ action: string; class?: string; enctype?: "multipart/form-data"; id?: string }>) {
  const c = useRequestContext<ClientEnv>();
  return (
    <form method="post" {...form}>
      <input type="hidden" name={CSRF_FIELD} value={c.get("csrfToken")} />
      {children}
    </form>
  );
}

/** Hidden fields of a form. */
export const Fields: FC<{ fields: Readonly<Record<string, string>> }> = ({ fields }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
);

const Head: FC<PropsWithChildren<{ title: string }>> = ({ title, children }) => (
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta name="color-scheme" content="light dark" />
    <title>{title}</title>
    <link rel="icon" href="/client.svg" />
    <link rel="stylesheet" href="/client.css" />
    <script type="module" src="/client.js" />
    {children}
  </head>
);

const NoticeText: FC<{ notice: ShownNotice | null }> = ({ notice }) =>
  notice && (
    <div class={notice.isFailure ? "notice failure" : "notice"}>
      <p>
        <Sentence text={notice.text} />
      </p>
      {notice.undo && (
        <Form action={notice.undo.action}>
          <Fields fields={notice.undo.fields} />
          <button type="submit" data-key="u">
            Undo
          </button>
        </Form>
      )}
    </div>
  );

const KeyDialog: FC<{ keys: readonly KeyHelp[] }> = ({ keys }) => (
  <dialog id="keys" aria-labelledby="keys-title">
    <h2 id="keys-title">Keys</h2>
    <dl>
      {keys.map(({ key, does }) => (
        <div data-help={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <form method="dialog">
      <button type="submit">Close</button>
    </form>
  </dialog>
);
