// plugin/eleventy/page-assets.ts: the script and the stylesheet of pages with mentions or a timeline.
import { mentionsOptions } from "../options/mentions.js";
import { timelineOptions } from "../options/timeline.js";
import type { Settings } from "../options.js";
import type { SiteUrls } from "./site-urls.js";

const SCRIPT = "twtxt-mentions.js";
const STYLE = "twtxt.css";

/** The script and the stylesheet of a site, in the folder of its pages of mentions, or else of its timeline. */
export class PageAssets {
  readonly #settings: Settings;
  readonly #urls: SiteUrls;
  readonly #readAsset: (file: string) => Promise<string>;

  /** @param readAsset - reads a bundled script or stylesheet */
  constructor(settings: Settings, urls: SiteUrls, readAsset: (file: string) => Promise<string>) {
    this.#settings = settings;
    this.#urls = urls;
    this.#readAsset = readAsset;
  }

  /** The path of the script, for templates. */
  script(): string {
    return this.#urls.hrefInTemplates(this.#folder() + SCRIPT);
  }

  /** The path of the stylesheet, for templates; `null` for none. */
  style(): string | null {
    return this.#settings.styles ? this.#urls.hrefInTemplates(this.#folder() + STYLE) : null;
  }

  async files(): Promise<{ path: string; content: string }[]> {
    const hasMentions = this.#urls.hasReceiver();
    const hasTimeline = timelineOptions(this.#settings) !== null;
    const names = [
      ...(hasMentions || this.#urls.hasLiveTimeline() ? [SCRIPT] : []),
      ...((hasMentions || hasTimeline) && this.#settings.styles ? [STYLE] : []),
    ];
    const folder = this.#folder();
    return Promise.all(names.map(async (name) => ({ path: folder + name, content: await this.#readAsset(name) })));
  }

  #folder(): string {
    const mentions = mentionsOptions(this.#settings).pages || "/mentions/";
    const path = this.#urls.hasReceiver() ? mentions : (timelineOptions(this.#settings)?.path ?? mentions);
    return path.replace(/\/?$/, "/");
  }
}
