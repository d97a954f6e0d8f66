// plugin/client/form.tsx: forms of the client's pages. They work without script.
import type { FC, PropsWithChildren } from "hono/jsx";
import { useRequestContext } from "hono/jsx-renderer";
import type { ClientEnv } from "./client-request.js";
import { CSRF_FIELD } from "./session.js";

/** A form that changes something, with the token of the session. */
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

export const Fields: FC<{ fields: Readonly<Record<string, string>> }> = ({ fields }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
);

interface ActionButtonProps {
  action: string;
  fields?: Readonly<Record<string, string>>;
  /** Of the form. */
  id?: string;
  /** Of the button. */
  class?: string | undefined;
  /** The key that presses the button. */
  shortcut?: string | undefined;
}

export const ActionButton: FC<PropsWithChildren<ActionButtonProps>> = ({
  fields = {},
  shortcut,
  children,
  ...props
}) => {
  const { class: name, ...form } = props;
  return (
    <Form {...form}>
      <Fields fields={fields} />
      <button type="submit" class={name} data-key={shortcut}>
        {children}
      </button>
    </Form>
  );
};

/**
 * The buttons of a page that asks before it does something.
 *
 * @param yes - a label such as "Delete it"
 * @param back - the page that "Cancel" leads to
 */
export const Question: FC<Pick<ActionButtonProps, "action" | "fields"> & { yes: string; back: string }> = ({
  action,
  fields = {},
  yes,
  back,
}) => (
  <Form action={action} class="actions">
    <Fields fields={fields} />
    <button type="submit" class="primary" data-key="y">
      {yes}
    </button>
    <a class="button" href={back} data-key="q">
      Cancel
    </a>
  </Form>
);
