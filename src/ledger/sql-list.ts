/** Names of ours as a list of SQL, such as `('settled', 'abandoned')`. */
export const sqlList = (names: readonly string[]): string => `(${names.map((name) => `'${name}'`).join(", ")})`;
