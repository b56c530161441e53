/**
 * Every text of the exercise page, in each language. A new language is one more catalogue here, and its case sets.
 * Instructions and questions come from the model's catalogue in English; `translations` has them by their English text, so
 * that an organization's own catalogue, which nobody translated, is shown as it is.
 */
import type { CaseSetLanguage } from "../../exercises/case_set.ts";
import { inPercent } from "../../scoring/wording.ts";

export interface Texts {
  readonly loading: string;
  readonly loadFailed: string;
  /** Stands before the name of the organization. */
  readonly setBy: string;
  readonly how: string;
  readonly cases: (count: number) => string;
  readonly instructions: string;
  readonly tell: { readonly immediate: string; readonly delayed: string };
  readonly announced: string;
  readonly recorded: string;
  readonly once: string;
  readonly until: (instant: string) => string;
  readonly begin: string;
  readonly goOn: (number: number) => string;
  readonly unmeasured: string;
  readonly caseTitle: (number: number, count: number, title: string) => string;
  readonly decided: string;
  readonly theCase: string;
  readonly more: string;
  readonly advice: string;
  readonly confidence: (percent: number) => string;
  readonly withheldTitle: string;
  readonly withheld: string;
  readonly delayedTitle: string;
  readonly delayed: (seconds: number) => string;
  readonly firstTitle: string;
  readonly first: string;
  readonly onRequestTitle: string;
  readonly onRequest: (left: number) => string;
  readonly showAdvice: string;
  readonly noRequestLeft: string;
  readonly firstDecision: string;
  readonly finalDecision: string;
  readonly yourDecision: string;
  readonly missing: string;
  readonly saveFirst: string;
  readonly decide: string;
  readonly sending: string;
  readonly notSent: string;
  readonly again: string;
  readonly right: string;
  readonly wrong: string;
  readonly adviceWasRight: string;
  readonly adviceWasWrong: string;
  readonly next: string;
  readonly toResult: string;
  readonly resultTitle: string;
  readonly result: (correct: number, of: number) => string;
  readonly resultNote: string;
  readonly eachCase: string;
  readonly adviceSaid: (advice: string) => string;
  readonly noAdvice: string;
  readonly questions: string;
  readonly close: string;
  readonly errors: {
    readonly unknown: string;
    readonly over: string;
    readonly otherwise: string;
    readonly unreachable: string;
    readonly other: string;
  };
  readonly request: string;
  readonly waiting: string;
  readonly inSeconds: (seconds: number) => string;
  /** By the English text. */
  readonly translations: Readonly<Record<string, string>>;
}

const EN: Texts = {
  loading: "One moment…",
  loadFailed: "This exercise cannot be shown",
  setBy: "An exercise of",
  how: "How it goes",
  cases: (count) => `${count} short cases. All that you need stands in the case.`,
  instructions: "What to do",
  tell: {
    immediate: "After each case you are told what was right.",
    delayed: "You are told what was right after the last case.",
  },
  announced:
    "This is practice, and you know it: its decisions count neither for nor against your score of live work.",
  recorded:
    "Recorded for each case: your decision, whether it was right, the time you took, and how much of the material you looked at. Never what you type, or where you point.",
  once: "Each case can be decided once. Close the page when you like: this link goes on with the next case.",
  until: (instant) => `The link works until ${instant}.`,
  begin: "Begin with case 1",
  goOn: (number) => `Go on with case ${number}`,
  unmeasured:
    "The script that measures reading cannot be loaded. Only the time for each case is taken; the exercise works all the same.",
  caseTitle: (number, count, title) => `Case ${number} of ${count}: ${title}`,
  decided: "Cases decided",
  theCase: "The case",
  more: "More to look at",
  advice: "The AI's advice",
  confidence: (percent) => `It says it is ${inPercent(String(percent))} sure.`,
  withheldTitle: "No advice this time",
  withheld: "The decision is yours alone.",
  delayedTitle: "The advice comes later",
  delayed: (seconds) =>
    `Read the case first. The advice appears ${seconds} ${seconds === 1 ? "second" : "seconds"} after it.`,
  firstTitle: "Decide first",
  first: "The advice appears when you have saved a first decision. You can change it then.",
  onRequestTitle: "Advice if you ask for it",
  onRequest: (left) => `You can ask in ${left} more ${left === 1 ? "case" : "cases"}.`,
  showAdvice: "Show the advice",
  noRequestLeft: "You have asked as often as you can: the decision is yours alone.",
  firstDecision: "Your first decision",
  finalDecision: "Keep your decision or change it",
  yourDecision: "Your decision",
  missing: "Choose one of the decisions first.",
  saveFirst: "Save and see the advice",
  decide: "Decide",
  sending: "Your decision is being saved…",
  notSent: "Your decision is not saved yet",
  again: "Try again",
  right: "Right",
  wrong: "Not right",
  adviceWasRight: "The advice was right.",
  adviceWasWrong: "The advice was wrong.",
  next: "Next case",
  toResult: "To the result",
  resultTitle: "Your result",
  result: (correct, of) => `${correct} of ${of} decisions were right.`,
  resultNote: "So few cases say little about anybody. They are practice.",
  eachCase: "Case by case",
  adviceSaid: (advice) => `The advice: “${advice}”`,
  noAdvice: "Decided without advice.",
  questions: "Questions to think about",
  close: "Everything is saved. You can close this page.",
  errors: {
    unknown:
      "There is no exercise at this link. Check that you have copied the whole of it, or ask for a new one.",
    over: "This link is over. Ask for a new one if you were to decide more cases.",
    otherwise: "This case was decided before, perhaps in another window, and that decision stands.",
    unreachable: "The service cannot be reached. Wait a moment, then try again.",
    other: "The service could not answer. Try again, or tell whoever sent you the link.",
  },
  request: "Request",
  waiting: "Too many requests come from your network at the moment: the page goes on by itself",
  inSeconds: (seconds) => `in ${seconds} ${seconds === 1 ? "second" : "seconds"}`,
  translations: {},
};

const DE: Texts = {
  loading: "Einen Moment …",
  loadFailed: "Diese Übung kann nicht angezeigt werden",
  setBy: "Eine Übung von",
  how: "So läuft es ab",
  cases: (count) => `${count} kurze Fälle. Alles Nötige steht im Fall.`,
  instructions: "Was Sie tun",
  tell: {
    immediate: "Nach jedem Fall erfahren Sie, was richtig war.",
    delayed: "Was richtig war, erfahren Sie nach dem letzten Fall.",
  },
  announced:
    "Dies ist eine Übung, und Sie wissen es: Ihre Entscheidungen zählen weder für noch gegen die Bewertung Ihrer laufenden Arbeit.",
  recorded:
    "Zu jedem Fall wird festgehalten: Ihre Entscheidung, ob sie richtig war, die Zeit, und wie viel Sie sich angesehen haben. Nie, was Sie tippen oder worauf Sie zeigen.",
  once:
    "Jeder Fall kann einmal entschieden werden. Sie können die Seite jederzeit schließen: Derselbe Link geht mit dem nächsten Fall weiter.",
  until: (instant) => `Der Link gilt bis ${instant}.`,
  begin: "Mit Fall 1 beginnen",
  goOn: (number) => `Mit Fall ${number} weitermachen`,
  unmeasured:
    "Das Skript, das das Lesen misst, lässt sich nicht laden. Festgehalten wird nur die Zeit je Fall; die Übung funktioniert trotzdem.",
  caseTitle: (number, count, title) => `Fall ${number} von ${count}: ${title}`,
  decided: "Entschiedene Fälle",
  theCase: "Der Fall",
  more: "Weitere Unterlagen",
  advice: "Der Rat der KI",
  confidence: (percent) => `Sie gibt an, zu ${inPercent(String(percent))} sicher zu sein.`,
  withheldTitle: "Diesmal kein Rat",
  withheld: "Die Entscheidung liegt allein bei Ihnen.",
  delayedTitle: "Der Rat kommt später",
  delayed: (seconds) =>
    `Lesen Sie zuerst den Fall. Der Rat erscheint nach ${seconds} ${seconds === 1 ? "Sekunde" : "Sekunden"}.`,
  firstTitle: "Entscheiden Sie zuerst",
  first:
    "Der Rat erscheint, wenn Sie eine erste Entscheidung gespeichert haben. Sie können sie dann noch ändern.",
  onRequestTitle: "Rat auf Wunsch",
  onRequest: (left) => `Sie können noch in ${left} ${left === 1 ? "Fall" : "Fällen"} fragen.`,
  showAdvice: "Rat anzeigen",
  noRequestLeft: "Sie haben so oft gefragt, wie Sie können: Die Entscheidung liegt allein bei Ihnen.",
  firstDecision: "Ihre erste Entscheidung",
  finalDecision: "Behalten Sie Ihre Entscheidung, oder ändern Sie sie",
  yourDecision: "Ihre Entscheidung",
  missing: "Wählen Sie zuerst eine Entscheidung.",
  saveFirst: "Speichern und den Rat sehen",
  decide: "Entscheiden",
  sending: "Ihre Entscheidung wird gespeichert …",
  notSent: "Ihre Entscheidung ist noch nicht gespeichert",
  again: "Noch einmal versuchen",
  right: "Richtig",
  wrong: "Nicht richtig",
  adviceWasRight: "Der Rat war richtig.",
  adviceWasWrong: "Der Rat war falsch.",
  next: "Nächster Fall",
  toResult: "Zum Ergebnis",
  resultTitle: "Ihr Ergebnis",
  result: (correct, of) => `${correct} von ${of} Entscheidungen waren richtig.`,
  resultNote: "So wenige Fälle sagen über niemanden viel. Sie sind Übung.",
  eachCase: "Fall für Fall",
  adviceSaid: (advice) => `Der Rat: „${advice}“`,
  noAdvice: "Ohne Rat entschieden.",
  questions: "Fragen zum Nachdenken",
  close: "Alles ist gespeichert. Sie können diese Seite schließen.",
  errors: {
    unknown:
      "Unter diesem Link gibt es keine Übung. Prüfen Sie, ob Sie ihn ganz kopiert haben, oder bitten Sie um einen neuen.",
    over: "Dieser Link ist abgelaufen. Bitten Sie um einen neuen, falls noch Fälle offen waren.",
    otherwise:
      "Dieser Fall wurde schon entschieden, vielleicht in einem anderen Fenster, und jene Entscheidung gilt.",
    unreachable: "Der Dienst ist nicht erreichbar. Warten Sie einen Moment und versuchen Sie es noch einmal.",
    other:
      "Der Dienst konnte nicht antworten. Versuchen Sie es noch einmal, oder fragen Sie, wer Ihnen den Link gab.",
  },
  request: "Anfrage",
  waiting: "Aus Ihrem Netz kommen gerade zu viele Anfragen: Die Seite geht von selbst weiter",
  inSeconds: (seconds) => `in ${seconds} ${seconds === 1 ? "Sekunde" : "Sekunden"}`,
  translations: {
    "Decide First, Then Reveal": "Erst entscheiden, dann aufdecken",
    "Read the whole case.": "Lesen Sie den ganzen Fall.",
    "Save your decision and one fact that supports it.":
      "Speichern Sie Ihre Entscheidung, und benennen Sie für sich eine Tatsache, die dafür spricht.",
    "Read the recommendation when it appears.": "Lesen Sie die Empfehlung, sobald sie erscheint.",
    "Keep your decision or change it.": "Behalten Sie Ihre Entscheidung, oder ändern Sie sie.",
    "If you change it, name the fact in the case that made you change it.":
      "Wenn Sie sie ändern, benennen Sie für sich die Tatsache im Fall, die Sie dazu brachte.",
    "Where you changed your decision, which fact made you do it?":
      "Wo Sie Ihre Entscheidung änderten: Welche Tatsache brachte Sie dazu?",
    "Where the recommendation was wrong, which line of the case showed it?":
      "Wo die Empfehlung falsch war: Welche Zeile des Falls zeigte es?",
    "Did you ever keep a decision only because it was yours?":
      "Haben Sie je eine Entscheidung nur behalten, weil es Ihre eigene war?",
    "Slow Reveal": "Langsam aufdecken",
    "Read the case while the recommendation is still hidden.":
      "Lesen Sie den Fall, solange die Empfehlung noch verborgen ist.",
    "Form a view and say it to yourself in one sentence.":
      "Bilden Sie sich eine Meinung, und fassen Sie sie für sich in einen Satz.",
    "When the recommendation appears, compare it with your view.":
      "Vergleichen Sie die Empfehlung mit Ihrer Meinung, sobald sie erscheint.",
    "Where the two differ, go back to the case before you decide.":
      "Gehen Sie bei einem Unterschied zum Fall zurück, bevor Sie entscheiden.",
    "What did you look at while you waited?": "Was haben Sie angesehen, während Sie warteten?",
    "In which case did the recommendation differ from your view, and which of the two did the case support?":
      "In welchem Fall wich die Empfehlung von Ihrer Meinung ab, und welche von beiden stützte der Fall?",
    "Advice on Request": "Rat auf Wunsch",
    "Read the case and try to decide without help.":
      "Lesen Sie den Fall, und versuchen Sie, ohne Hilfe zu entscheiden.",
    "Ask for the recommendation only where you remain in doubt.":
      "Fragen Sie nur dort nach der Empfehlung, wo Sie unsicher bleiben.",
    "Before you press the button, say what you want to learn from it.":
      "Überlegen Sie, bevor Sie fragen, was Sie erfahren möchten.",
    "Check what you are told against the case, then decide.":
      "Prüfen Sie am Fall, was Ihnen gesagt wird, und entscheiden Sie dann.",
    "For which cases did you ask, and what were you in doubt about?":
      "In welchen Fällen haben Sie gefragt, und worüber waren Sie unsicher?",
    "Did the advice settle the doubt, or did the case?": "Hat der Rat den Zweifel behoben oder der Fall?",
    "Which request would you rather have kept for another case?":
      "Welche Frage hätten Sie sich lieber für einen anderen Fall aufgehoben?",
    "Find the Planted Error": "Den eingebauten Fehler finden",
    "Check every fact in the recommendation against the case.":
      "Prüfen Sie jede Tatsache der Empfehlung am Fall.",
    "Work out every sum again.": "Rechnen Sie jede Summe nach.",
    "Ask what the case holds that the recommendation does not mention.":
      "Fragen Sie sich, was im Fall steht und in der Empfehlung fehlt.",
    "Accept it if it stands; otherwise reject it and point to the error.":
      "Nehmen Sie sie an, wenn sie stimmt; lehnen Sie sie sonst ab, und benennen Sie für sich den Fehler.",
    "Which kind of error did you find most easily, and which did you miss?":
      "Welche Art von Fehler fanden Sie am leichtesten, und welche haben Sie übersehen?",
    "Which check would have found the one that you missed?":
      "Welche Prüfung hätte den übersehenen Fehler gefunden?",
    "Did you reject anything that was right, and why?":
      "Haben Sie etwas abgelehnt, das richtig war, und warum?",
    "Solo Case Set": "Fälle allein entscheiden",
    "Read the case as if there were no AI.": "Lesen Sie den Fall, als gäbe es keine KI.",
    "Note the rule that applies and the facts that it needs.":
      "Merken Sie sich die Regel, die gilt, und die Tatsachen, die sie braucht.",
    "Decide, and write the result down in full.":
      "Entscheiden Sie, und halten Sie das Ergebnis für sich vollständig fest.",
    "Do not ask any AI tool about the case until the run is over.":
      "Befragen Sie zu den Fällen keine KI, bis die Übung zu Ende ist.",
    "Which step did you find harder than you remembered?":
      "Welcher Schritt fiel Ihnen schwerer als in Ihrer Erinnerung?",
    "Which knowledge did you have to look up?": "Welches Wissen mussten Sie nachschlagen?",
    "Which kind of case should you decide alone more often?":
      "Welche Art von Fall sollten Sie öfter allein entscheiden?",
    "Alternating Assistance": "Abwechselnd mit und ohne Rat",
    "Work through the cases in the order given.": "Bearbeiten Sie die Fälle in der gegebenen Reihenfolge.",
    "Use the same steps whether or not a recommendation is shown.":
      "Gehen Sie mit und ohne Empfehlung dieselben Schritte.",
    "In a case without one, write down your decision in the same form.":
      "Halten Sie Ihre Entscheidung ohne Empfehlung in derselben Form fest.",
    "Do not go back to earlier cases.": "Gehen Sie nicht zu früheren Fällen zurück.",
    "What did you do differently when there was no recommendation?":
      "Was haben Sie ohne Empfehlung anders gemacht?",
    "Was the gap between the two kinds larger or smaller than you expected?":
      "War der Abstand zwischen beiden Arten größer oder kleiner als erwartet?",
    "Five-Case Recovery Run": "Wieder sicher nach einem Fehler",
    "Recall the error and the check that was missing.":
      "Erinnern Sie sich an den Fehler und an die Prüfung, die fehlte.",
    "Use that check in each of the five cases.": "Machen Sie diese Prüfung in jedem der Fälle.",
    "Give each case the time that it needs, and no more.":
      "Geben Sie jedem Fall die Zeit, die er braucht, und nicht mehr.",
    "Do not refuse right advice to be on the safe side.":
      "Lehnen Sie richtigen Rat nicht sicherheitshalber ab.",
    "Did you become too strict, too lenient, or neither?":
      "Wurden Sie zu streng, zu nachsichtig oder keines von beiden?",
    "In which of the five cases did you forget the check?": "In welchem der Fälle vergaßen Sie die Prüfung?",
    "Edge-Case Gallery": "Grenzfälle",
    "Find the rule that the case turns on.": "Finden Sie die Regel, an der der Fall hängt.",
    "Read its words: at least, more than, until, before.":
      "Lesen Sie ihre Worte genau: mindestens, mehr als, bis, vor.",
    "Put the case's figures into the rule.": "Setzen Sie die Zahlen des Falls in die Regel ein.",
    "Decide on the recommendation.": "Entscheiden Sie über die Empfehlung.",
    "Which word of a rule decided a case?": "Welches Wort einer Regel entschied einen Fall?",
    "Which rule should be written more clearly?": "Welche Regel sollte klarer geschrieben sein?",
    "Where did you remember a rule that is not the written one?":
      "Wo hatten Sie eine Regel im Kopf, die so nicht geschrieben steht?",
    "Override Rehearsal": "Anders entscheiden üben",
    "Check the recommendation against the case.": "Prüfen Sie die Empfehlung am Fall.",
    "If it is wrong, override it and enter the decision that should stand.":
      "Entscheiden Sie anders, wenn sie falsch ist, und wählen Sie die Entscheidung, die gelten soll.",
    "Give the fact or rule that your decision rests on.":
      "Benennen Sie für sich die Tatsache oder Regel, auf der Ihre Entscheidung ruht.",
    "If it is right, accept it, even where it looks close.":
      "Nehmen Sie sie an, wenn sie richtig ist, auch wenn es knapp aussieht.",
    "Was your own decision right where you overrode, or only the refusal?":
      "War Ihre eigene Entscheidung richtig, wo Sie anders entschieden, oder nur die Ablehnung?",
    "What made it hard to override?": "Was machte es schwer, anders zu entscheiden?",
    "Where did you override right advice?": "Wo haben Sie gegen richtigen Rat entschieden?",
  },
};

export const TEXTS: Readonly<Record<CaseSetLanguage, Texts>> = { en: EN, de: DE };

/** A text of the model's catalogue in a language, as it is if nobody translated it. */
export function translated({ translations }: Texts, text: string): string {
  return translations[text] ?? text;
}

/** The language of a page before the exercise is known: the browser's first one that there is. */
export function languageOf(wanted: readonly string[]): CaseSetLanguage {
  const known = Object.keys(TEXTS) as CaseSetLanguage[];
  const found = wanted.map((one) => one.slice(0, 2).toLowerCase()).find((one) => known.includes(one as "en"));
  return (found as CaseSetLanguage | undefined) ?? "en";
}
