/** Digits of any script, read as 0 to 9. */

/** `٢٠٢٦`, `२०२६` and `２０２６` are 2026. */
export function latinDigits(text: string): string {
  return /[^ -~]/.test(text) ? text.replace(/(?![0-9])\p{Nd}/gu, latinDigit) : text;
}

/** The digits of a script stand in a row, from its zero on. */
function latinDigit(digit: string): string {
  const plain = digit.normalize("NFKC");
  if (/^[0-9]$/.test(plain)) return plain;
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String(code - zero);
}
