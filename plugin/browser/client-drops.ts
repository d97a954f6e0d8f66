// plugin/browser/client-drops.ts: takes files that are dropped anywhere on the page.

/** @param form - is marked with the class `dropping` while files are over the page */
export function takeDrops(form: HTMLFormElement, take: (files: File[]) => void): void {
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    // Without this, a browser leaves the page for the file.
    event.preventDefault();
    form.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) form.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    form.classList.remove("dropping");
    take([...(event.dataTransfer?.files ?? [])]);
  });
}
