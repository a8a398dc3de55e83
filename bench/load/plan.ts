/** The tasks and results of a load generator. */

/** The address of a server and how clients connect to it. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** PEM of the trusted CA; undefined to skip the verification. */
  readonly ca: string | undefined;
  /** The client certificate with its key, in PEM. */
  readonly client?: { readonly certificate: string; readonly key: string } | undefined;
}

/** The requests of one connection. */
export type RequestPlan =
  /** The same bytes for every request. */
  | { readonly kind: "same"; readonly text: string }
  /**
   * The same text, with each `%SEQ%______` replaced by a number of 11 digits that is never used twice, and each
   * `%OBJ%_` by one of 6 digits that goes round below `objects`; no two connections use the same one at a time.
   */
  | {
      readonly kind: "numbered";
      /** In the binary form a character for each byte, which `encoding` says. */
      readonly text: string;
      readonly objects: number;
      readonly encoding?: "latin1" | undefined;
    }
  /** Texts of a file (a JSON list), one after the other over all connections, and from the start again. */
  | { readonly kind: "listed"; readonly file: string }
  /** GETs of the pages of a list: the first path, then with the token of the page before, and from the start again. */
  | { readonly kind: "pages"; readonly path: string; readonly head: string };

export interface LoadPlan {
  readonly address: Address;
  /** Number of connections, each with one request in progress at any time. */
  readonly connections: number;
  readonly request: RequestPlan;
  /** Maximum number of requests per second, over all connections together; each connection sends at even intervals. */
  readonly rate?: number | undefined;
  /** Whether each request opens a new connection, which counts as part of its time. */
  readonly fresh?: boolean | undefined;
  /** Connections that were opened with a watch and only read; marks in the text become the number of each. */
  readonly watchers?:
    | {
        readonly count: number;
        readonly text: string;
        /** What each frame has once, where frames aren't lines of JSON. */
        readonly mark?: string | undefined;
      }
    | undefined;
}

export const sequenceMark = "%SEQ%______";
export const objectMark = "%OBJ%_";
/** In a watcher's text the object's number goes round below this. */
export const watchedObjects = 100;

export interface LoadResult {
  readonly seconds: number;
  /** Number of responses; for pages: of complete lists. */
  readonly answers: number;
  readonly bytes: number;
  /** Number of frames received by all watchers. */
  readonly frames: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Processor time of the generator in microseconds. */
  readonly cpuMicros: number;
  /** The first response that wasn't a success. */
  readonly failure: string | undefined;
}
