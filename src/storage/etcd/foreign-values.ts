import { StoreDamagedError } from "../store.ts";

/** Maximum number of keys that are reported. */
const maxReported = 100;

/**
 * Reports values under the prefix of the store that another program wrote. The store skips them: one of them must not stop lists
 * and watches, for which writes wait.
 */
export class ForeignValues {
  private readonly reported = new Set<string>();

  /** @param warn receives one message for each key, and for at most 100 keys. */
  constructor(private readonly warn: ((message: string) => void) | undefined) {}

  report(key: string, { message }: StoreDamagedError): void {
    if (this.reported.size >= maxReported || this.reported.has(key)) return;
    this.reported.add(key);
    this.warn?.(
      `${message}: the value is skipped; remove it from etcd, and let no other program write under the prefix of the store`,
    );
  }
}

/** Returns the result of `decode`; undefined, after a call of `skipped`, if another program wrote the value. */
export function unlessForeign<T>(
  decode: () => T,
  skipped: (error: StoreDamagedError) => void,
): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    skipped(error);
    return undefined;
  }
}
