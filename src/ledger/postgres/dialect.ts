/**
 * The statements of this folder are written once, in what SQLite and PostgreSQL have in common, and in a few words of SQLite that
 * are put into PostgreSQL's here. What is left of SQLite's functions the schema defines (tables.ts).
 */

const IGNORES = /^\s*INSERT OR IGNORE INTO\b/;
/** A text in single quotes is passed over. Names are in small letters, and the words of the language in large ones. */
const WORDS = /'[^']*'|\?|\bINSERT OR IGNORE INTO\b|\bBLOB\b|\bINTEGER\b|\boffset\b|\bAS ([a-z]+[A-Z]\w*)/g;

/** A statement as PostgreSQL takes it. */
export function toPostgres(sql: string): string {
  let values = 0;
  const text = sql.replace(WORDS, (word, name: string | undefined) => {
    if (name !== undefined) return `AS "${name}"`;
    switch (word) {
      case "?":
        values += 1;
        return `$${values}`;
      case "INSERT OR IGNORE INTO":
        return "INSERT INTO";
      case "BLOB":
        return "bytea";
      case "INTEGER":
        return "bigint";
      case "offset":
        return '"offset"';
      default:
        return word;
    }
  });
  return IGNORES.test(sql) ? `${text} ON CONFLICT DO NOTHING` : text;
}
