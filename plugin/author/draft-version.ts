// plugin/author/draft-version.ts: the versions of a draft, so that two pages of one draft do not overwrite each other.

/** Identifies one save of a draft. */
export interface DraftVersion {
  /** An ID of the page that saved it. */
  page: string;
  /** Which of the saves of this page it is. */
  edit: number;
}

export interface DraftSave extends DraftVersion {
  /** The version of the draft that the page was loaded with, of {@link toVersion}; empty for a new draft. */
  seen: string;
}

export function toVersion({ page, edit }: DraftVersion): string {
  return `${page} ${edit}`;
}

/** Whether a save may replace the stored draft: its page has seen that draft, or saved it earlier. */
export function mayReplace(stored: DraftVersion, { page, edit, seen }: DraftSave): boolean {
  return toVersion(stored) === seen || (stored.page === page && stored.edit <= edit);
}

/** What a page is told about a save. */
export interface SavedDraft {
  id: string;
  /** Its version, for the next save. */
  seen: string;
  /** When it was saved, for people; empty for one that was deleted. */
  text: string;
  warning: string | null;
  /** Text that another page has saved, which comes before the text of this page. */
  added?: string;
  /** The path of the page that shows the draft, if it is another page. */
  path?: string;
}
