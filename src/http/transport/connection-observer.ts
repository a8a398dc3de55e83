/** Receives events of client connections. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** A connection above the limit was closed. */
  refused(): void;
  /** A connection couldn't be accepted for lack of file descriptors. */
  exhausted(what: "accept" | "dial"): void;
  /** Checks regularly whether there are free file descriptors. */
  look(): Promise<void>;
}

/** Error codes for lack of file descriptors in the process or the system. */
export const exhaustionCodes: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
