// plugin/browser/twtxt-comments.ts: adds Reply to the replies of a post, and loads the rest of the form when a reader uses it.
import { LazyForm } from "./lazy-form.js";

type CommentForm = import("./twtxt-comments-form.js").CommentForm;

/** A hash of a twt, the first name of a reply that has one. */
const HASH = /(?:^| )([a-z2-7]{12}|[a-z2-7]{7})(?= |$)/;

/** The place for comments under a post. The build makes its content, which works without this script. */
class TwtxtComments extends LazyForm<CommentForm> {
  protected async load(): Promise<CommentForm> {
    const script: typeof import("./twtxt-comments-form.js") = await import(
      new URL("twtxt-comments-form.js", import.meta.url).href
    );
    return new script.CommentForm(this);
  }

  protected prepare(_: HTMLFormElement, canStore: boolean): void {
    if (!canStore) return;
    this.#offerReplies();
    document.addEventListener("twtxt-mentions", () => this.#offerReplies());
  }

  /** Without the script, the browser sends the form unsigned. */
  protected fail(form: HTMLFormElement, isSending: boolean): void {
    if (isSending) form.submit();
  }

  #offerReplies(): void {
    const { reply = "Reply" } = JSON.parse(this.dataset.words ?? "{}");
    const list = this.parentElement?.querySelectorAll<HTMLElement>(".twtxt-replies li.h-cite") ?? [];
    for (const item of list) {
      const [, hash] = HASH.exec(item.dataset.names ?? "") ?? [];
      const name = item.querySelector(":scope > .twtxt-by .twtxt-name")?.textContent ?? "";
      const isDone = item.querySelector(":scope > .twtxt-actions, :scope > .twtxt-by > .twtxt-waits");
      if (hash === undefined || isDone) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = reply;
      button.setAttribute("aria-label", `${reply}: ${name}`);
      button.addEventListener("click", () => void this.use((script) => script.reply(hash, name)));
      const actions = document.createElement("p");
      actions.className = "twtxt-actions";
      actions.append(button);
      const replies = item.querySelector(":scope > :is(.twtxt-thread, .twtxt-fold)");
      item.insertBefore(actions, replies);
    }
  }
}

customElements.define("twtxt-comments", TwtxtComments);
