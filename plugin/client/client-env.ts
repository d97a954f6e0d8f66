// plugin/client/client-env.ts: what hono passes on with a request of the client.
import type { HttpBindings } from "@hono/node-server";

/** The result of an action. */
export interface Notice {
  text: string;
  /** Undoes the action: a form with these fields. */
  undo?: { action: string; fields: Readonly<Record<string, string>> };
}

export interface ShownNotice extends Notice {
  isFailure: boolean;
}

export interface ClientEnv {
  Bindings: HttpBindings;
  Variables: {
    /** For forms; `Form` of layout.tsx adds it. Missing without a session. */
    csrfToken?: string;
    /** The result of the action before, if this page shows one. */
    notice?: ShownNotice | null;
  };
}
