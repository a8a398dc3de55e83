import type { Options } from "./options.ts";
import type { Row } from "./rows.ts";
import type { Tls } from "./limits/bare-server.ts";

/** What a scenario works with. */
export interface Bench {
  readonly options: Options;
  /** For limit servers, with the authority that clients trust. */
  readonly tls: Tls & { readonly ca: string };
}

export interface Scenario {
  readonly name: string;
  /** Whether it can be run against a server that isn't ours to start. */
  readonly remote: boolean;
  /** Measures; each row as soon as it is known. */
  run(bench: Bench): AsyncIterable<Row>;
}
