/** Instants in the browser's own time zone, and on paper in UTC; short and unambiguous. */

const TO_MINUTE: Intl.DateTimeFormatOptions = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
};

const UTC = new Intl.DateTimeFormat("en-GB", { ...TO_MINUTE, timeZone: "UTC" });
const LOCAL_TO_SECOND = new Intl.DateTimeFormat("en-GB", { ...TO_MINUTE, second: "2-digit" });

/** English as the rest of the pages has it: the day before the month, and 24 hours. */
const FORMS = {
  en: new Intl.DateTimeFormat("en-GB", TO_MINUTE),
  de: new Intl.DateTimeFormat("de-DE", TO_MINUTE),
};

/** An instant in ISO 8601 as the browser's clock shows it, with the short name of its zone: `27 Nov 2026, 12:43 CET`. */
export function localInWords(instant: string, language: keyof typeof FORMS = "en"): string {
  return FORMS[language].format(new Date(instant));
}

/** The same to the second, for lists in which a minute has several lines: `27 Nov 2026, 12:43:07 CET`. */
export function localToSecond(instant: string): string {
  return LOCAL_TO_SECOND.format(new Date(instant));
}

/** The same in UTC, for paper, which others read elsewhere: `27 Nov 2026, 11:43 UTC`. */
export function utcInWords(instant: string): string {
  return UTC.format(new Date(instant));
}
