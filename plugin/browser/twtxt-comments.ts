// plugin/browser/twtxt-comments.ts: opens the form for a reply, and loads the rest of the form when a reader uses it.
import { LazyForm } from "./lazy-form.js";

type CommentForm = import("./twtxt-comments-form.js").Form;

/** The place for comments under a post. The build makes its content, which works without this script. */
class TwtxtComments extends LazyForm<CommentForm> {
  protected readonly file = "twtxt-comments-form.js";

  protected prepare(_: HTMLFormElement, canStore: boolean): void {
    if (canStore) this.parentElement?.addEventListener("click", (event) => void this.#reply(event));
  }

  /** Without the script, the browser sends the form unsigned. */
  protected fail(form: HTMLFormElement, isSending: boolean): void {
    if (isSending) form.submit();
  }

  /** Opens the form here, instead of the page to which "Reply" leads. */
  async #reply(event: MouseEvent): Promise<void> {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>(".twtxt-actions > a") : null;
    if (!link || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    const replyTo = new URL(link.href).searchParams.get("reply-to") ?? "";
    const name = link.closest("li")?.querySelector(":scope > .twtxt-by .twtxt-name")?.textContent ?? "";
    if (!(await this.use((script) => script.reply(replyTo, name)))) location.assign(link.href);
  }
}

customElements.define("twtxt-comments", TwtxtComments);
