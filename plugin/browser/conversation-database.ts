// plugin/browser/conversation-database.ts: the database of a reader's conversations.

export const DATABASE = "twtxt-contact";

/** Whether this browser has a conversation with an author of this site, without creating the database. */
export async function hasConversations(): Promise<boolean> {
  const databases = await indexedDB.databases();
  return databases.some(({ name }) => name === DATABASE);
}
