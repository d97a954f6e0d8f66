// test/helpers/choose-file.ts: chooses files in a dialog that a key or a click opens.
import type { FileChooser, Page } from "playwright-core";

/** @param open - opens the dialog */
export async function chooseFiles(
  tab: Page,
  open: () => Promise<unknown>,
  files: Parameters<FileChooser["setFiles"]>[0],
): Promise<void> {
  const dialog = tab.waitForEvent("filechooser");
  // Dialogs are intercepted from now on, but not at once: after an answer of the page they are.
  await tab.evaluate("0");
  await open();
  await (await dialog).setFiles(files);
}
