/** The body of an answer, gathered as its pieces come. */

interface AnswerBody {
  readonly add: (piece: Buffer) => void;
  /** All that came, once no more will be added. */
  readonly taken: () => Buffer;
}

/**
 * Where the answer says how long it is, each piece is copied to its place when it comes, so that a long answer is not copied
 * in one go at its end. Elsewhere, and where more comes than was said, it is.
 *
 * @param said Content-Length.
 * @param most longer ones are not believed: memory is taken for what comes of them only.
 */
export function openAnswerBody(said: string | undefined, most: number): AnswerBody {
  const length = said !== undefined && /^\d{1,15}$/.test(said) ? Number(said) : 0;
  const place = length <= most ? Buffer.allocUnsafeSlow(length) : Buffer.alloc(0);
  let used = 0;
  const beyond: Buffer[] = [];
  return {
    add(piece) {
      if (beyond.length === 0 && piece.length <= place.length - used) used += piece.copy(place, used);
      else beyond.push(piece);
    },
    taken() {
      const copied = used === place.length ? place : place.subarray(0, used);
      return beyond.length === 0 ? copied : Buffer.concat([copied, ...beyond]);
    },
  };
}
