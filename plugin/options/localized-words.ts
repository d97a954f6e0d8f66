// plugin/options/localized-words.ts: words in the language of a site.

/**
 * The words of a language, with those that the author has set.
 *
 * @param translations - by language, such as `de`
 * @param lang - such as `de` or `de-AT`. The words of an unknown language are English.
 * @param own - words that the author has set
 */
export function localizedWords<T extends Record<string, string>>(
  translations: Readonly<Record<string, T>> & { en: T },
  lang = "en",
  own: { [Name in keyof T]?: string | undefined } = {},
): T {
  const words = translations[lang.toLowerCase().split("-")[0] ?? ""] ?? translations.en;
  const set = Object.entries(own).filter(([, word]) => word !== undefined);
  return { ...words, ...Object.fromEntries(set) };
}
