// plugin/eleventy/pages/page-assets.ts: the scripts and the stylesheet of pages with mentions, a timeline or a contact form.
import { inboxOptions } from "../../options/inbox.js";
import { mentionsOptions } from "../../options/mentions.js";
import { timelineOptions } from "../../options/timeline.js";
import type { SiteUrls } from "../site-urls.js";

/** The first script of a form loads the second when a reader uses the form. */
const SCRIPTS = {
  mentions: ["twtxt-mentions.js"],
  contact: ["twtxt-contact.js", "twtxt-contact-conversation.js"],
  comments: ["twtxt-comments.js", "twtxt-comments-form.js"],
} as const;
const STYLE = "twtxt.css";

/** The scripts and the stylesheet of a site, in the folder of its pages of mentions, or else of its timeline or contact page. */
export class PageAssets {
  /** @param readAsset - reads a bundled script or stylesheet */
  constructor(
    readonly urls: SiteUrls,
    readonly readAsset: (file: string) => Promise<string>,
  ) {}

  /** The path of the script that starts a part of pages, for templates. */
  script(part: keyof typeof SCRIPTS): string {
    return this.urls.hrefInTemplates(this.#folder() + SCRIPTS[part][0]);
  }

  /** The path of the stylesheet, for templates; `null` for none. */
  style(): string | null {
    return this.urls.settings.styles ? this.urls.hrefInTemplates(this.#folder() + STYLE) : null;
  }

  async files(): Promise<{ path: string; content: string }[]> {
    const hasMentions = this.urls.has("mentions");
    const hasTimeline = timelineOptions(this.urls.settings) !== null;
    const hasForm = this.urls.has("guests");
    const names = [
      ...(hasMentions || this.urls.has("timeline") ? SCRIPTS.mentions : []),
      ...(hasForm ? SCRIPTS.contact : []),
      ...(this.urls.has("comments") ? SCRIPTS.comments : []),
      ...((hasMentions || hasTimeline || hasForm) && this.urls.settings.styles ? [STYLE] : []),
    ];
    const folder = this.#folder();
    return Promise.all(names.map(async (name) => ({ path: folder + name, content: await this.readAsset(name) })));
  }

  /** The option whose page is in the same folder as the files, and its path. */
  home(): { option: string; path: string } {
    const timeline = timelineOptions(this.urls.settings);
    if (this.urls.has("mentions") || !(timeline || this.urls.has("guests"))) {
      return { option: "mentions.pages", path: mentionsOptions(this.urls.settings).pages || "/mentions/" };
    }
    return timeline
      ? { option: "timeline.path", path: timeline.path }
      : { option: "inbox.page", path: inboxOptions(this.urls.settings).page || "/contact/" };
  }

  #folder(): string {
    return this.home().path.replace(/\/?$/, "/");
  }
}
