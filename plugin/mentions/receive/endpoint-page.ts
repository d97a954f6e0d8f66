// plugin/mentions/receive/endpoint-page.ts: the answers of the webmention endpoint to people, with words in all languages.
import { type TwtxtError, toStatus } from "../../errors.js";
import type { HttpResponse } from "../../http/respond.js";
import { chooseEndpointWords, type EndpointWords } from "../../options/endpoint-words.js";
import { chooseLanguage, chooseWords } from "../../options/translations.js";
import { element, escapeHtml, type MarkupElement, toHtml } from "../../site/html.js";
import { canParseUrl } from "../../url.js";
import type { ClaimOutcome } from "./verify-and-store.js";

const HINTS: Partial<Record<TwtxtError["code"], string>> = {
  "no-such-mention": "Add the link to your page, publish it, and send it again.",
  "no-such-twt": "Publish your feed, and send the twt again.",
  "say-which-twt": "Send the URL of one twt of your feed.",
};

/** Sentences for errors of people: messages are in English. */
const SENTENCES: Partial<Record<TwtxtError["code"], keyof EndpointWords>> = {
  ...{ "bad-request": "badSource", "bad-source": "badSource" },
  ...{ "bad-target": "badTarget", "not-our-target": "badTarget" },
  ...{ "no-such-mention": "noLink", "no-such-twt": "noLink", "say-which-twt": "noLink" },
  ...{ unreachable: "unreadable", "address-refused": "unreadable", "source-refused": "unreadable" },
  ...{ "too-many-redirects": "unreadable", "too-large": "unreadable", "bad-compression": "unreadable" },
  ...{ blocked: "blocked", "too-many-pending": "full" },
};

const STYLE =
  ":root{color-scheme:light dark;background:canvas}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}input,textarea{display:block;width:100%;box-sizing:border-box;font:inherit;margin:0 0 1rem}";

interface Form {
  source: string;
  target: string;
}

export interface AnsweringSite {
  feedUrl: string;
  /** A page in the site's own layout, with an empty element for the answer; absent for a plain page. */
  endpointPage?: string | undefined;
  /** The language of a post, or else of the site; default: English. */
  findLanguage?(target: string): string | undefined;
}

/** Explains the endpoint, and has a form to send a mention by hand. */
export function explanationPage(site: AnsweringSite): HttpResponse {
  const home = new URL(".", site.feedUrl).href;
  const lang = chooseLanguage(site.findLanguage?.(home) ?? "en");
  const { receives, explained } = chooseEndpointWords(lang);
  const content = `<p>${explained.replace(/\{(\w+)\}/g, "<code>$1</code>")}</p>
${formHtml({ source: "", target: site.feedUrl }, lang)}
${backLink(home)}`;
  const { title } = chooseWords(lang);
  return answerPage(site, {
    ...{ title, heading: receives, content, status: 200, cache: "public, max-age=3600", lang },
  });
}

/** Says what happens with a posted mention. */
export function outcomePage(
  outcome: ClaimOutcome,
  { status, target }: { status: number; target: string },
  site: AnsweringSite,
): HttpResponse {
  const lang = chooseLanguage(site.findLanguage?.(target) ?? "en");
  const { thanks: title, ...sentences } = chooseEndpointWords(lang);
  const sentence = sentences[outcome === "no verdict" ? "silent" : outcome];
  const content = `<p>${sentence}</p>\n${backLink(target)}`;
  return answerPage(site, { title, content, status, lang });
}

/** Says why a mention was refused, and has the form to try again. */
export function refusalPage(error: TwtxtError, form: Form, site: AnsweringSite): HttpResponse {
  const lang = chooseLanguage(site.findLanguage?.(form.target) ?? "en");
  const words = chooseEndpointWords(lang);
  const { failed: title } = words;
  const word = SENTENCES[error.code];
  const english = [error.message, HINTS[error.code] ?? ""].join(" ").trim();
  const content = `${toHtml(refusal(english, word && words[word], lang))}
${formHtml(form, lang)}
${backLink(ownPage(form.target, site))}`;
  return answerPage(site, { title, content, status: toStatus(error.code), lang });
}

/** Why something was refused. @param sentence - in the language of the page; absent for errors that only programs cause */
export function refusal(message: string, sentence: string | undefined, lang: string): MarkupElement {
  if (lang === "en") return element("p", {}, message);
  return sentence === undefined ? element("p", { lang: "en" }, message) : element("p", {}, sentence);
}

function formHtml(typed: Form, lang: string): string {
  const { source, target } = chooseEndpointWords(lang);
  return `<form class="twtxt-form" method="post">
<label>${source} <input name="source" required value="${escapeHtml(typed.source)}" placeholder="https://bob.example/posts/hens/"></label>
<label>${target} <input name="target" required value="${escapeHtml(typed.target)}"></label>
<button>${chooseWords(lang).send}</button>
</form>`;
}

export function backLink(target: string): string {
  return `<p><a href="${escapeHtml(target)}">← ${escapeHtml(target)}</a></p>`;
}

/** The page that a visitor came from; the home page if the target is none of this site. */
export function ownPage(target: string, { feedUrl }: AnsweringSite): string {
  const home = new URL(".", feedUrl);
  return canParseUrl(target) && new URL(target).origin === home.origin ? target : home.href;
}

interface EndpointAnswer {
  title: string;
  /** Default: the title. */
  heading?: string;
  content: string;
  status: number;
  cache?: string;
  /** Added to the style of a plain page. */
  style?: string;
  /** The language of the content; default: English. */
  lang?: string;
}

/** The element for the answer in the page of a layout. Minifiers remove quotes. */
const PLACE = /<div class=["']?twtxt-answer["']?>[\s\S]*?<\/div>/;

/** A page in the layout of the site, or a plain one. */
export function answerPage(
  { endpointPage }: AnsweringSite,
  { title, heading = title, content, status, cache = "no-store", style = "", lang = "en" }: EndpointAnswer,
): HttpResponse {
  const isPlain = endpointPage === undefined;
  // The page of the layout has its own `<h1>`.
  const tag = isPlain ? "h1" : "h2";
  const answer = `<${tag}>${escapeHtml(heading)}</${tag}>\n${content}`;
  const html = isPlain
    ? plainPage(escapeHtml(title), answer, { style, lang })
    : endpointPage.replace(PLACE, () => `<div class="twtxt-answer" lang="${lang}">\n${answer}\n</div>`);
  return {
    status,
    body: html,
    headers: {
      "content-type": "text/html; charset=utf-8",
      // A layout of the site may load scripts and styles from anywhere.
      ...(isPlain && {
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      }),
      "cache-control": cache,
    },
  };
}

/** Headers of answers behind a secret link. */
export const PRIVATE = {
  "cache-control": "private, no-store",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex",
};

/** A page behind a secret link, without the site's layout, whose scripts could read its URL. */
export function privatePage(feedUrl: string, page: Omit<EndpointAnswer, "cache">): HttpResponse {
  const { headers, ...response } = answerPage({ feedUrl }, page);
  return { ...response, headers: { ...headers, ...PRIVATE } };
}

function plainPage(title: string, content: string, { style, lang }: { style: string; lang: string }): string {
  return `<!doctype html>
<html lang="${lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}${style}</style>
<main>
${content}
</main>
</html>
`;
}
