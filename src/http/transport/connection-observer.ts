/** Told of client connections. */
export interface ConnectionObserver {
  opened(): void;
  closed(): void;
  /** One beyond the limit was closed at once. */
  refused(): void;
  /** A file descriptor was needed for a connection, and there was none left. */
  exhausted(what: "accept" | "dial"): void;
  /** Called now and then: looks whether there are file descriptors left. */
  look(): Promise<void>;
}

/** Codes of errors that say that no file descriptor is left, of the process or of the machine. */
export const exhaustionCodes: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
