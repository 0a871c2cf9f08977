/** Files and other things that are open: closed when something fails, or handed on. */

/** The result of `work` with an open file. If it fails, the file is closed: Node ends a process that forgets one. */
export async function orClosed<T>(file: { readonly close: () => Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    await file.close().catch(() => undefined);
    throw cause;
  }
}

/** What was opened so far; closed last first. (`AsyncDisposableStack` needs Node 24.) */
export class Opened implements AsyncDisposable {
  #closing: (() => unknown)[] = [];

  use<T extends AsyncDisposable | Disposable>(thing: T): T {
    this.defer(() => (Symbol.asyncDispose in thing ? thing[Symbol.asyncDispose]() : thing[Symbol.dispose]()));
    return thing;
  }

  defer(close: () => unknown): void {
    this.#closing.push(close);
  }

  /** Hands all of it to a new owner; this one closes nothing any more. */
  move(): Opened {
    const moved = new Opened();
    moved.#closing = this.#closing;
    this.#closing = [];
    return moved;
  }

  /** Closes everything, also where something can't be closed. @throws what was thrown first. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#closing.pop(); close !== undefined; close = this.#closing.pop()) {
      try {
        await close();
      } catch (cause) {
        failures.push(cause);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
