// plugin/options/answer-translations.ts: words of mails to readers by language.
import { ANSWER_WORDS, type AnswerWords } from "./answer-words.js";
import { localizedWords } from "./words.js";

const ANSWER_TRANSLATIONS: Readonly<Record<string, AnswerWords>> & { en: AnswerWords } = {
  en: ANSWER_WORDS,
};

export function chooseAnswerWords(lang?: string): AnswerWords {
  return localizedWords(ANSWER_TRANSLATIONS, lang);
}
