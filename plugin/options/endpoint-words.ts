// plugin/options/endpoint-words.ts: the words with which the endpoint of mentions answers people, by language.
import { localizedWords } from "./words.js";

const ENGLISH = {
  thanks: "Thank you",
  stored: "Your page links here, and is listed now, or as soon as the author has approved it.",
  removed: "Your page no longer links here, so it is no longer listed.",
  waiting: "Your page will be checked soon. If it links here, it will be listed.",
  silent: "Your page did not answer. It will be checked several times within a day, and listed once it answers.",
  failed: "This could not be added",
  source: "Your twt or page",
  target: "The page that it links to",
};
export type EndpointWords = typeof ENGLISH;

const ENDPOINT_TRANSLATIONS: Readonly<Record<string, EndpointWords>> & { en: EndpointWords } = {
  en: ENGLISH,
  de: {
    thanks: "Danke",
    stored: "Deine Seite verweist hierher und wird ab jetzt aufgeführt, oder sobald der Autor sie freigibt.",
    removed: "Deine Seite verweist nicht mehr hierher und wird deshalb nicht mehr aufgeführt.",
    waiting: "Deine Seite wird bald geprüft. Wenn sie hierher verweist, wird sie aufgeführt.",
    silent:
      "Deine Seite antwortet nicht. Sie wird einen Tag lang mehrmals geprüft und aufgeführt, sobald sie antwortet.",
    failed: "Das konnte nicht übernommen werden",
    source: "Deine Seite",
    target: "Die Seite, auf die sie verweist",
  },
  fr: {
    thanks: "Merci",
    stored: "Votre page renvoie ici ; elle est affichée maintenant, ou le sera lorsque l’auteur l’aura approuvée.",
    removed: "Votre page ne renvoie plus ici ; elle n’est donc plus affichée.",
    waiting: "Votre page sera bientôt vérifiée. Si elle renvoie ici, elle sera affichée.",
    silent:
      "Votre page n’a pas répondu. Elle sera vérifiée plusieurs fois en un jour, et affichée dès qu’elle répondra.",
    failed: "L’ajout n’a pas été possible",
    source: "Votre page",
    target: "La page à laquelle elle renvoie",
  },
  es: {
    thanks: "Gracias",
    stored: "Tu página enlaza aquí y se muestra ya, o en cuanto el autor la apruebe.",
    removed: "Tu página ya no enlaza aquí, por lo que ya no se muestra.",
    waiting: "Tu página se comprobará pronto. Si enlaza aquí, se mostrará.",
    silent: "Tu página no ha respondido. Se comprobará varias veces en un día y se mostrará en cuanto responda.",
    failed: "No se ha podido añadir",
    source: "Tu página",
    target: "La página a la que enlaza",
  },
  it: {
    thanks: "Grazie",
    stored: "La tua pagina rimanda qui e viene mostrata ora, o quando l’autore l’avrà approvata.",
    removed: "La tua pagina non rimanda più qui, quindi non viene più mostrata.",
    waiting: "La tua pagina sarà controllata presto. Se rimanda qui, sarà mostrata.",
    silent: "La tua pagina non ha risposto. Sarà controllata più volte in un giorno e mostrata appena risponde.",
    failed: "Non è stato possibile aggiungerla",
    source: "La tua pagina",
    target: "La pagina a cui rimanda",
  },
  nl: {
    thanks: "Bedankt",
    stored: "Je pagina verwijst hierheen en wordt nu getoond, of zodra de auteur die heeft goedgekeurd.",
    removed: "Je pagina verwijst niet meer hierheen en wordt daarom niet meer getoond.",
    waiting: "Je pagina wordt binnenkort gecontroleerd. Als die hierheen verwijst, wordt die getoond.",
    silent:
      "Je pagina antwoordt niet. Die wordt binnen een dag enkele keren gecontroleerd en getoond zodra die antwoordt.",
    failed: "Dit kon niet worden toegevoegd",
    source: "Je pagina",
    target: "De pagina waarnaar die verwijst",
  },
  ja: {
    thanks: "ありがとうございます",
    stored: "あなたのページからのリンクを確認しました。すぐに、または筆者の承認後に表示されます。",
    removed: "あなたのページからのリンクがなくなったため、表示されなくなりました。",
    waiting: "あなたのページはまもなく確認されます。リンクがあれば表示されます。",
    silent: "あなたのページが応答しませんでした。1日のうちに何度か確認され、応答すれば表示されます。",
    failed: "追加できませんでした",
    source: "あなたのページ",
    target: "リンク先のページ",
  },
  zh: {
    thanks: "谢谢",
    stored: "你的页面链接到了这里，现在就会显示，或在作者批准后显示。",
    removed: "你的页面不再链接到这里，因此不再显示。",
    waiting: "你的页面很快会被检查。如果它链接到这里，就会显示。",
    silent: "你的页面没有响应。一天之内会检查数次，响应后就会显示。",
    failed: "未能添加",
    source: "你的页面",
    target: "它链接到的页面",
  },
};

export function chooseEndpointWords(lang?: string): EndpointWords {
  return localizedWords(ENDPOINT_TRANSLATIONS, lang);
}
