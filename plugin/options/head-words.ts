// plugin/options/head-words.ts: the titles of links in the heads of pages, by language.
import { createWordChooser } from "./words.js";

const ENGLISH = { feed: "{nick}'s twtxt feed", inbox: "Private messages to {address}" };
export type HeadWords = typeof ENGLISH;

export const chooseHeadWords = createWordChooser<HeadWords>({
  en: ENGLISH,
  de: { feed: "twtxt-Feed von {nick}", inbox: "Private Nachrichten an {address}" },
  fr: { feed: "Flux twtxt de {nick}", inbox: "Messages privés à {address}" },
  es: { feed: "Feed twtxt de {nick}", inbox: "Mensajes privados para {address}" },
  it: { feed: "Feed twtxt di {nick}", inbox: "Messaggi privati a {address}" },
  nl: { feed: "twtxt-feed van {nick}", inbox: "Privéberichten aan {address}" },
  ja: { feed: "{nick}のtwtxtフィード", inbox: "{address} への非公開メッセージ" },
  zh: { feed: "{nick} 的 twtxt 订阅源", inbox: "发给 {address} 的私信" },
});
