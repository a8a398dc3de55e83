import { ReloadCounters } from "./reload-counters.ts";

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
