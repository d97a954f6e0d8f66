// plugin/browser/conversation-database.ts: the database of a reader's conversations.

export const DATABASE = "twtxt-contact";
/** The key in `localStorage` of what is remembered of a reader's comments. */
export const COMMENT_MEMORY = "twtxt-comments";

/** Whether this browser has a conversation with an author of this site, without creating the database. */
export async function hasConversations(): Promise<boolean> {
  const databases = await indexedDB.databases();
  return databases.some(({ name }) => name === DATABASE);
}
