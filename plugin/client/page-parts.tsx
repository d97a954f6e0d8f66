// plugin/client/page-parts.tsx: parts of the client's pages: forms, which work without script, links to other pages of a list, and texts of this program.
import { randomUUID } from "node:crypto";
import type { Child, FC, JSX, PropsWithChildren } from "hono/jsx";
import { useRequestContext } from "hono/jsx-renderer";
import { DATES } from "../author/amounts.js";
import type { DraftSave, SavedDraft } from "../author/draft-version.js";
import { typedHints } from "../author/invocation.js";
import type { Machine } from "../author/machine.js";
import { TwtxtError } from "../errors.js";
import type { ClientEnv, ClientRequest, FormFields } from "./client-request.js";
import { CSRF_FIELD } from "./session.js";

/** A form that changes something, with the token of the session. Its action is the path of the page by default. */
export function Form({ children, ...form }: PropsWithChildren<JSX.IntrinsicElements["form"]>) {
  const c = useRequestContext<ClientEnv>();
  return (
    <form method="post" action={new URL(c.req.url).pathname} {...form}>
      <input type="hidden" name={CSRF_FIELD} value={c.get("csrfToken")} />
      {children}
    </form>
  );
}

export const Fields: FC<{ fields: Readonly<Record<string, string>> }> = ({ fields }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
);

interface LabelProps {
  label: string;
  /** What it acts on, where several have the same label; only screen readers say it. */
  about?: string | undefined;
}

const Label: FC<LabelProps> = ({ label, about }) => (
  <>
    {label}
    {about && <span class="visually-hidden"> {about}</span>}
  </>
);

/** A button that submits the form around it. */
export const Submit: FC<LabelProps & JSX.IntrinsicElements["button"]> = ({ label, about, ...button }) => (
  <button type="submit" {...button}>
    <Label label={label} about={about} />
  </button>
);

type LinkButtonProps = LabelProps & JSX.IntrinsicElements["a"] & { isQuiet?: boolean };

/** A link that looks like a button. */
export const LinkButton: FC<LinkButtonProps> = ({ label, about, isQuiet = false, ...link }) => (
  <a class={isQuiet ? "button quiet" : "button"} {...link}>
    <Label label={label} about={about} />
  </a>
);

interface ActionButtonProps extends LabelProps {
  /** The path of the page by default. */
  action?: string;
  fields?: Readonly<Record<string, string>>;
  /** Of the form. */
  id?: string;
  /** Of the button. */
  class?: string | undefined;
  shortcut?: string | undefined;
}

export const ActionButton: FC<ActionButtonProps> = ({ fields = {}, label, about, shortcut, class: name, ...form }) => (
  <Form {...form}>
    <Fields fields={fields} />
    <Submit class={name} data-key={shortcut} label={label} about={about} />
  </Form>
);

interface AnswerProps {
  /** A label such as "Delete it". */
  yes: string;
  /** The page that "Cancel" leads to. */
  back: string;
  shortcut?: string;
}

/** The buttons of a form that the author can leave. */
export const Answers: FC<AnswerProps> = ({ yes, back, shortcut }) => (
  <div class="actions">
    <Submit class="primary" data-key={shortcut} label={yes} />
    <LinkButton href={back} data-key="q" label="Cancel" />
  </div>
);

type QuestionProps = PropsWithChildren<AnswerProps & Pick<ActionButtonProps, "fields">>;

/** What a page says before it does something, and its form, with the path of the page. */
export const Question: FC<QuestionProps> = ({ fields = {}, children, ...answers }) => (
  <>
    {children}
    <Form>
      <Fields fields={fields} />
      <Answers {...answers} shortcut="y" />
    </Form>
  </>
);

type FieldProps = JSX.IntrinsicElements["input"] & { name: string; label: Child };

/** A field for a line of text or a file. Its ID is its name; `children` are its help. */
export const Field: FC<PropsWithChildren<FieldProps>> = ({ label, children, ...input }) => {
  const help = children && `${input.name}-help`;
  return (
    <>
      <label for={input.name}>{label}</label>
      <input id={input.name} class="wide" autocomplete="off" aria-describedby={help} {...input} />
      {help && (
        <p id={help} class="muted">
          {children}
        </p>
      )}
    </>
  );
};

const CODE = /`([^`\n]+)`/;

/** Shows text in backticks as code, such as a command to type. */
export const Sentence: FC<{ text: string }> = ({ text }) => (
  <>
    {typedHints(text)
      .split(CODE)
      .map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}
  </>
);

/** The message of a `TwtxtError`. Other errors are bugs: they are logged and masked. */
export function faultText(error: unknown, { say }: Pick<Machine, "say">): string {
  if (error instanceof TwtxtError) return error.message;
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return "This is a bug. Please report it to eleventy-plugin-twtxt, with the lines that the client has printed on its terminal.";
}

/** @param text - sentences; `null` for no fault */
export const Fault: FC<{ text: string | null; id?: string }> = ({ text, id }) =>
  text !== null && (
    <p id={id} class="notice failure">
      <Sentence text={text} />
    </p>
  );

/** @param at - an ISO date */
export const Time: FC<{ at: string }> = ({ at }) => <time datetime={at}>{DATES.format(new Date(at))}</time>;

/** A row of a list of facts. */
export const Fact: FC<PropsWithChildren<{ name: Child }>> = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** A text in a fixed font that scrolls, also with the keys. @param id - of a text that grows while the page is shown */
export const Output: FC<{ label: string; text: string; id?: string }> = ({ label, text, id }) => (
  <section class="output" aria-label={label} tabindex={0}>
    <pre id={id} data-live={id && ""}>
      {text}
    </pre>
  </section>
);

/** Links to other pages of a list; `null` for none. */
export interface OtherPages {
  newer: string | null;
  older: string | null;
}

/**
 * The items of the page that `?page=` asks for.
 *
 * @param all - newest first
 * @param perPage - how many a page has
 */
export function selectPage<T>(c: ClientRequest, all: readonly T[], perPage: number) {
  const last = Math.max(1, Math.ceil(all.length / perPage));
  const number = Math.min(last, Math.max(1, Math.trunc(Number(c.req.query("page"))) || 1));
  const items = all.slice((number - 1) * perPage, number * perPage);
  const newer = number > 1 ? pagePath(c, number - 1) : null;
  const older = number < last ? pagePath(c, number + 1) : null;
  return { items, pages: { newer, older } };
}

function pagePath(c: ClientRequest, number: number): string {
  const { pathname, searchParams } = new URL(c.req.url);
  searchParams.delete("notice");
  if (number === 1) searchParams.delete("page");
  else searchParams.set("page", String(number));
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

/** @param of - the items in the plural, such as "mentions" */
export const PageLinks: FC<{ pages: OtherPages; of: string }> = ({ pages: { newer, older }, of }) =>
  (newer ?? older) !== null && (
    <p class="pages">
      {newer && <a href={newer}>Newer {of}</a>}
      {older && <a href={older}>Older {of}</a>}
    </p>
  );

/** Such as "20:45". */
const TIMES = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

/** Hidden fields that identify the draft of a form, and its page. */
export const DraftFields: FC<{ id: string; seen: string }> = ({ id, seen }) => (
  <Fields fields={{ id, seen, page: randomUUID(), edit: "0" }} />
);

/** Reads {@link DraftFields}. */
export function readSave({ page, edit, seen = "" }: FormFields): DraftSave {
  return { page: page || randomUUID(), edit: Number(edit) || 0, seen };
}

/** @param saved - as an ISO date; `null` before the first save */
export const DraftState: FC<{ saved: string | null }> = ({ saved }) => (
  <p id="draft-state" class="muted" role="status">
    {saved && `Draft saved: ${DATES.format(new Date(saved))}`}
  </p>
);

/** Whether a script saves the draft, which gets {@link draftSaved}. */
export function isForScript(c: ClientRequest): boolean {
  return c.req.header("accept") === "application/json";
}

/** @param saved - as an ISO date; `null` for one that was deleted */
export function draftSaved(c: ClientRequest, saved: string | null, draft: Omit<SavedDraft, "text">): Response {
  const answer: SavedDraft = {
    ...draft,
    text: saved === null ? "" : `Draft saved at ${TIMES.format(new Date(saved))}`,
  };
  return c.json(answer);
}
