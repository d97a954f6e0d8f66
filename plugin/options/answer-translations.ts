// plugin/options/answer-translations.ts: words of mails to readers by language.
import { ANSWER_WORDS, type AnswerWords } from "./answer-words.js";
import { localizedWords } from "./words.js";

const ANSWER_TRANSLATIONS: Readonly<Record<string, AnswerWords>> & { en: AnswerWords } = {
  en: ANSWER_WORDS,
  de: {
    confirmSubject: "Bitte bestätigen: Antworten von {host} per E-Mail",
    confirmText:
      "Diese Adresse wurde auf {host} eingegeben, um von Antworten zu erfahren. Zum Bestätigen öffne diese Seite und drücke den Knopf:",
    confirmElse:
      "Wenn du sie nicht eingegeben hast, musst du nichts tun: Du bekommst keine weitere E-Mail, und die Adresse wird nach zwei Tagen gelöscht.",
    answerSubject: "Neue Antworten an dich auf {host}: {count}",
    answerText: "Antworten auf deinen Kommentar zu {page}:",
    messageSubject: "Auf {host} wartet eine private Antwort auf dich",
    messageText: "Um sie zu lesen, öffne diese Seite in dem Browser, in dem du geschrieben hast:",
    stopText: "Um diese E-Mails nicht mehr zu bekommen, öffne diese Seite:",
    question: "{address} von Antworten benachrichtigen?",
    confirm: "Bestätigen",
    remove: "Nein, die Adresse löschen",
    confirmed: "{address} wird von Antworten benachrichtigt",
    stop: "Beenden und die Adresse löschen",
    ended: "Über diesen Link wird keine E-Mail verschickt",
    endedText: "Die Adresse ist gelöscht, oder der Link ist abgelaufen.",
  },
  fr: {
    confirmSubject: "À confirmer\u00a0: les réponses de {host} par e-mail",
    confirmText:
      "Cette adresse a été saisie sur {host} pour être prévenue des réponses. Pour confirmer, ouvrez cette page et appuyez sur le bouton\u00a0:",
    confirmElse:
      "Si vous ne l’avez pas saisie, vous n’avez rien à faire\u00a0: vous ne recevrez pas d’autre e-mail, et l’adresse sera supprimée après deux jours.",
    answerSubject: "Nouvelles réponses pour vous sur {host}\u00a0: {count}",
    answerText: "Réponses à votre commentaire sur {page}\u00a0:",
    messageSubject: "Une réponse privée vous attend sur {host}",
    messageText: "Pour la lire, ouvrez cette page dans le navigateur avec lequel vous avez écrit\u00a0:",
    stopText: "Pour ne plus recevoir ces e-mails, ouvrez cette page\u00a0:",
    question: "Prévenir {address} des réponses\u00a0?",
    confirm: "Confirmer",
    remove: "Non, supprimer l’adresse",
    confirmed: "{address} est prévenue des réponses",
    stop: "Arrêter et supprimer l’adresse",
    ended: "Aucun e-mail n’est envoyé par ce lien",
    endedText: "L’adresse est supprimée, ou le lien a expiré.",
  },
  es: {
    confirmSubject: "Confirma: respuestas de {host} por correo",
    confirmText:
      "Esta dirección se escribió en {host} para recibir avisos de respuestas. Para confirmarla, abre esta página y pulsa el botón:",
    confirmElse:
      "Si no la escribiste tú, no tienes que hacer nada: no recibirás más correos, y la dirección se borrará en dos días.",
    answerSubject: "Nuevas respuestas para ti en {host}: {count}",
    answerText: "Respuestas a tu comentario en {page}:",
    messageSubject: "Te espera una respuesta privada en {host}",
    messageText: "Para leerla, abre esta página en el navegador en el que escribiste:",
    stopText: "Para no recibir más estos correos, abre esta página:",
    question: "¿Avisar a {address} de las respuestas?",
    confirm: "Confirmar",
    remove: "No, borrar la dirección",
    confirmed: "Se avisa a {address} de las respuestas",
    stop: "Dejar de avisar y borrar la dirección",
    ended: "No se envía correo por este enlace",
    endedText: "La dirección está borrada, o el enlace ha caducado.",
  },
  it: {
    confirmSubject: "Da confermare: risposte di {host} per e-mail",
    confirmText:
      "Questo indirizzo è stato inserito su {host} per ricevere le risposte. Per confermarlo, apri questa pagina e premi il pulsante:",
    confirmElse:
      "Se non l’hai inserito tu, non devi fare nulla: non riceverai altre e-mail, e l’indirizzo sarà cancellato dopo due giorni.",
    answerSubject: "Nuove risposte per te su {host}: {count}",
    answerText: "Risposte al tuo commento su {page}:",
    messageSubject: "Una risposta privata ti aspetta su {host}",
    messageText: "Per leggerla, apri questa pagina nel browser con cui hai scritto:",
    stopText: "Per non ricevere più queste e-mail, apri questa pagina:",
    question: "Avvisare {address} delle risposte?",
    confirm: "Conferma",
    remove: "No, cancella l’indirizzo",
    confirmed: "{address} riceve le risposte",
    stop: "Interrompi e cancella l’indirizzo",
    ended: "Con questo link non si inviano e-mail",
    endedText: "L’indirizzo è cancellato, o il link è scaduto.",
  },
  nl: {
    confirmSubject: "Bevestig: antwoorden van {host} per mail",
    confirmText:
      "Dit adres is op {host} ingevuld om bericht te krijgen van antwoorden. Open deze pagina en druk op de knop om het te bevestigen:",
    confirmElse:
      "Heb je het niet ingevuld, dan hoef je niets te doen: je krijgt geen andere mail, en het adres wordt na twee dagen gewist.",
    answerSubject: "Nieuwe antwoorden voor jou op {host}: {count}",
    answerText: "Antwoorden op je reactie op {page}:",
    messageSubject: "Op {host} wacht een privé-antwoord op je",
    messageText: "Open om het te lezen deze pagina in de browser waarin je hebt geschreven:",
    stopText: "Open deze pagina om deze mails niet meer te krijgen:",
    question: "{address} bericht sturen van antwoorden?",
    confirm: "Bevestigen",
    remove: "Nee, wis het adres",
    confirmed: "{address} krijgt bericht van antwoorden",
    stop: "Stoppen en het adres wissen",
    ended: "Via deze link wordt geen mail gestuurd",
    endedText: "Het adres is gewist, of de link is verlopen.",
  },
  ja: {
    confirmSubject: "確認のお願い：{host} からの返信のメール通知",
    confirmText:
      "返信をメールで受け取るため、{host} でこのアドレスが入力されました。確認するには、次のページを開いてボタンを押してください：",
    confirmElse:
      "お心当たりがなければ、何もする必要はありません。ほかのメールは届かず、アドレスは 2 日後に削除されます。",
    answerSubject: "{host} であなたへの新しい返信：{count} 件",
    answerText: "{page} へのあなたのコメントに返信がありました：",
    messageSubject: "{host} に非公開の返信が届いています",
    messageText: "読むには、書き込んだブラウザで次のページを開いてください：",
    stopText: "このメールを止めるには、次のページを開いてください：",
    question: "返信があったら {address} に知らせますか？",
    confirm: "確認する",
    remove: "いいえ、アドレスを削除する",
    confirmed: "返信があったら {address} にお知らせします",
    stop: "やめてアドレスを削除する",
    ended: "このリンクからメールは送信されません",
    endedText: "アドレスは削除されたか、リンクの期限が切れています。",
  },
  zh: {
    confirmSubject: "请确认：通过邮件接收 {host} 的回复",
    confirmText: "有人在 {host} 填写了此地址，以便在有回复时收到通知。如需确认，请打开此页面并按下按钮：",
    confirmElse: "如果不是你填写的，无需任何操作：你不会再收到其他邮件，该地址将在两天后删除。",
    answerSubject: "{host} 上给你的新回复：{count}",
    answerText: "对你在 {page} 的评论的回复：",
    messageSubject: "{host} 上有一条给你的私密回复",
    messageText: "要阅读它，请在你写信时使用的浏览器中打开此页面：",
    stopText: "如不想再收到这些邮件，请打开此页面：",
    question: "有回复时通知 {address}？",
    confirm: "确认",
    remove: "不，删除此地址",
    confirmed: "有回复时会通知 {address}",
    stop: "停止并删除此地址",
    ended: "此链接不会再发送邮件",
    endedText: "该地址已删除，或链接已过期。",
  },
};

export function chooseAnswerWords(lang?: string): AnswerWords {
  return localizedWords(ANSWER_TRANSLATIONS, lang);
}
