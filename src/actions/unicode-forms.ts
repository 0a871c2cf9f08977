/**
 * Ids that are one text to Unicode and are written with other code points: `ü` is U+00FC, or `u` and U+0308. That is what
 * Unicode calls canonical equivalence, and no more: `²` and `2`, or a letter of full width and one of half, are different ids.
 */

const NOT_ASCII = /[\u0080-\uffff]/;

/** Whether an id may have another form. An id of ASCII is asked nothing else. */
export const mayHaveForms = (id: string): boolean => NOT_ASCII.test(id);

/** Which forms ids have that were taken up, so that only those are looked for. */
export class UnicodeForms {
  #hasDecomposed = false;
  /** What is neither composed (NFC) nor decomposed (NFD), by what it is composed. */
  readonly #mixed = new Map<string, string[]>();

  take(id: string): void {
    const composed = id.normalize("NFC");
    if (id === composed) return;
    if (id === id.normalize("NFD")) {
      this.#hasDecomposed = true;
      return;
    }
    const others = this.#mixed.get(composed) ?? [];
    if (!others.includes(id)) this.#mixed.set(composed, [...others, id]);
  }

  /** The other forms in which the id may have been taken up. */
  othersOf(id: string): readonly string[] {
    const composed = id.normalize("NFC");
    const forms = [
      composed,
      ...(this.#hasDecomposed ? [id.normalize("NFD")] : []),
      ...(this.#mixed.get(composed) ?? []),
    ];
    return forms.filter((form) => form !== id);
  }
}

/** The form of an id, if it has one throughout. */
export function formOf(id: string): "NFC" | "NFD" | undefined {
  if (id === id.normalize("NFC")) return "NFC";
  return id === id.normalize("NFD") ? "NFD" : undefined;
}

let characters: Intl.Segmenter | undefined;

/** An id with escapes (`\u0308`) where another form of it has other code points, so that the two can be told apart. */
export function withFormShown(id: string, other: string): string {
  characters ??= new Intl.Segmenter();
  const [own, others] = [id, other].map((text) =>
    Array.from(characters?.segment(text) ?? [], ({ segment }) => segment),
  );
  if (own === undefined || others === undefined) return id;
  const isPaired = own.length === others.length;
  return own.map((each, at) => (isPaired && each === others[at] ? each : escaped(each))).join("");
}

const escaped = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
