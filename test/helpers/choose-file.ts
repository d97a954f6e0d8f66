// test/helpers/choose-file.ts: chooses files in a dialog that a key press or a click opens.
import type { FileChooser, Page } from "playwright-core";

/** @param open - opens the dialog */
export async function chooseFiles(
  tab: Page,
  open: () => Promise<unknown>,
  files: Parameters<FileChooser["setFiles"]>[0],
): Promise<void> {
  const dialog = tab.waitForEvent("filechooser");
  // Interception of dialogs starts with a delay: it is active once the page has responded to a call.
  await tab.evaluate("0");
  await open();
  await (await dialog).setFiles(files);
}
