/** Counts the reloads of a configuration file, for metrics. */
export class ReloadCounters {
  readonly success = { count: 0, lastSeconds: 0 };
  readonly failure = { count: 0, lastSeconds: 0 };

  /** @param nowMs time of the reload, in milliseconds since 1970. */
  add(status: "success" | "failure", nowMs: number): void {
    this[status].count++;
    this[status].lastSeconds = nowMs / 1000;
  }
}

/** What a plugin of admission has read from files. */
export class ManifestCounters {
  readonly reloads = new ReloadCounters();
  /** Hash of the files in use: `sha256:…`; empty without files. */
  hash = "";

  constructor(
    /** Name of the plugin. */
    readonly plugin: string,
  ) {}
}
