/** What the process of a server is started with. */
export interface ServerSettings {
  readonly vocabulary: "platform" | "kubernetes";
  /** An existing folder for its files. */
  readonly folder: string;
  /** Users that authenticate with their names as tokens. */
  readonly users: readonly { readonly name: string; readonly groups: readonly string[] }[];
}

/** Messages to the process of a server. */
export interface ToServer {
  readonly type: "memory" | "longest" | "stop";
}

/** Messages of the process of a server. */
export type FromServer =
  | { readonly type: "ready"; readonly url: string; readonly ca: string; readonly adminToken: string }
  | { readonly type: "memory"; readonly heapBytes: number }
  | { readonly type: "longest"; readonly ms: number }
  /** A turn of the event loop that used much processor time; times in milliseconds since 1970. */
  | { readonly type: "turn"; readonly ms: number; readonly from: number; readonly to: number }
  | { readonly type: "defect"; readonly text: string };
