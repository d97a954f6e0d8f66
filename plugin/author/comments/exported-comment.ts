// plugin/author/comments/exported-comment.ts: a comment as the readers of all exports give it.

/** Why a comment is not imported, as reports name it. */
export type LeftOut =
  | "deleted"
  | "marked as spam"
  | "not approved"
  | "pingbacks and trackbacks"
  | "without text or date";

/** Neither e-mail addresses nor network addresses are read. */
export interface ExportedComment {
  /** The name of the system and its id of the comment, the same in each export. */
  id: string;
  /** The id of the comment that it answers; `null` for none. */
  parent: string | null;
  leftOut: LeftOut | null;
  /** URLs and paths of its page, the best first. */
  pages: readonly string[];
  /** As text, like `site`; empty for none. */
  name: string;
  site: string;
  /** Untrusted. */
  html: string;
  /** Milliseconds since 1970; `NaN` if it is unknown. */
  time: number;
}
