/** Months and weekdays as exports name them: English, German, French, Italian, Spanish, Dutch, Portuguese. */

const MONTHS: readonly string[] = [
  "january januar jänner janvier gennaio enero januari janeiro",
  "february februar février febbraio febrero februari fevereiro",
  "march märz mars marzo maart março mrz mrt",
  "april avril aprile abril",
  "may mai maggio mayo mei maio",
  "june juni juin giugno junio junho",
  "july juli juillet luglio julio julho",
  "august août agosto augustus",
  "september septembre settembre septiembre setembro",
  "october oktober octobre ottobre octubre outubro",
  "november novembre noviembre novembro",
  "december dezember décembre dicembre diciembre dezembro",
];

/** From the first day of Unix time on. The last words of a line have no more than their two letters in common with it. */
const WEEKDAYS: readonly string[] = [
  "thursday donnerstag jeudi giovedì jueves donderdag quinta quinta-feira do",
  "friday freitag vendredi venerdì viernes vrijdag sexta sexta-feira fr vr",
  "saturday samstag sonnabend samedi sabato sábado zaterdag sa za",
  "sunday sonntag dimanche domenica domingo zondag so zo",
  "monday montag lundi lunedì lunes maandag segunda segunda-feira mo",
  "tuesday dienstag mardi martedì martes dinsdag terça terça-feira di",
  "wednesday mittwoch mercredi mercoledì miércoles woensdag quarta quarta-feira mi wo",
];

/** No shortened name is longer: `Sept`, `juil`. */
const LONGEST_SHORT = 4;

/** `März.`, `marz` and `MÄRZ` are one name. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .normalize("NFD")
    .replace(/[\p{M}.]/gu, "");

interface CalendarNames {
  readonly full: ReadonlyMap<string, number>;
  /** Beginnings of three or four letters that only one of them has, and what is no longer than that. */
  readonly short: ReadonlyMap<string, number>;
}

function tableOf(lines: readonly string[]): CalendarNames {
  const full = new Map<string, number>();
  const short = new Map<string, number>();
  const shared = new Set<string>();
  for (const [at, line] of lines.entries()) {
    for (const name of line.split(" ").map(plain)) {
      full.set(name, at);
      for (const length of [Math.min(3, name.length), LONGEST_SHORT]) {
        const beginning = name.slice(0, length);
        if ((short.get(beginning) ?? at) !== at) shared.add(beginning);
        short.set(beginning, at);
      }
    }
  }
  for (const beginning of shared) short.delete(beginning);
  return { full, short };
}

const TABLES = { month: tableOf(MONTHS), weekday: tableOf(WEEKDAYS) };

/** The number of a month or weekday from 0 on, by its full or its shortened name; undefined where there is no such name. */
export const calendarNumber = (
  part: keyof typeof TABLES,
  form: keyof CalendarNames,
  name: string,
): number | undefined => TABLES[part][form].get(plain(name));
