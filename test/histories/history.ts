/**
 * The contract of a recorded history: what clients of one or several servers over one store requested, what was answered, and what
 * their watches received. All times are nanoseconds of one monotonic clock, counted from the start of the recording.
 */

/** An object as a client received it. */
export interface ObservedObject {
  /** `/{resource}/{namespace}/{name}`; keys are ordered as the server orders them. */
  readonly key: string;
  readonly revision: number;
  readonly uid: string;
  /** Identifies the write that made this value; empty for objects that no recorded client writes. */
  readonly token: string;
  /** Digest of the object without its resource version. */
  readonly digest: string;
  /** Addresses and node ports that the object owns, such as `10.0.0.7`; absent for other kinds. */
  readonly claims?: readonly string[];
}

/** Which state a list reads. A continued page names the operation of its first page. */
export type ListState =
  { readonly kind: "latest" } | { readonly kind: "exact"; readonly revision: number } | ContinuedPage;

interface ContinuedPage {
  readonly kind: "continued";
  /** `id` of the operation that read the first page. */
  readonly first: number;
}

/** A request that writes one object; `expected` is its precondition on the resource version. */
export type WriteRequest =
  | { readonly verb: "create"; readonly key: string; readonly token: string }
  | {
      readonly verb: "update" | "patch";
      readonly key: string;
      readonly token: string;
      readonly expected?: number | undefined;
    }
  | { readonly verb: "delete"; readonly key: string; readonly expected?: number | undefined };

/** A request of a client. */
export type Request =
  | WriteRequest
  | { readonly verb: "get"; readonly key: string }
  | { readonly verb: "list"; readonly prefix: string; readonly state: ListState; readonly limit?: number }
  /** Asks whether a user is allowed something that the RoleBinding `key` alone grants. */
  | { readonly verb: "review"; readonly key: string }
  /** Removes the history before a revision. */
  | { readonly verb: "compact"; readonly revision: number }
  /** Creates a workspace that begins with the latest state of the operation's workspace. */
  | { readonly verb: "branch"; readonly name: string };

/** Why a request was refused without effect. */
export type Refusal = "exists" | "conflict" | "missing" | "gone" | "other";

/** The answer of a request. */
export type Answer =
  /** The object that was written or read. */
  | { readonly outcome: "object"; readonly object: ObservedObject }
  /** The object was deleted; `uid` identifies it. */
  | { readonly outcome: "deleted"; readonly uid: string }
  | {
      readonly outcome: "page";
      readonly revision: number;
      readonly objects: readonly ObservedObject[];
      /** Whether objects follow after this page. */
      readonly more: boolean;
    }
  | { readonly outcome: "decision"; readonly allowed: boolean }
  | { readonly outcome: "compacted" }
  /** The workspace was created; it begins with the state at this revision. */
  | { readonly outcome: "branched"; readonly revision: number }
  | { readonly outcome: "refused"; readonly refusal: Refusal; readonly status: number };

/** A request with its times. Without an answer it may have taken effect at any time after its begin, or never. */
export interface Operation {
  /** Unique in the history. */
  readonly id: number;
  readonly client: string;
  readonly server: string;
  /** Workspace to which the keys of the request belong; absent outside of workspaces. */
  readonly workspace?: string | undefined;
  readonly beginNs: number;
  readonly request: Request;
  /** Names the transaction to which it belongs, whose writes take effect together or not at all; absent for a request of its own. */
  readonly transaction?: number;
  /** Time and content of the answer; absent if none arrived, or one that leaves the outcome open (500, 503, 504). */
  readonly endNs?: number | undefined;
  readonly answer?: Answer | undefined;
}

/** An operation that was answered. */
export type Answered = Operation & { readonly endNs: number; readonly answer: Answer };

/** A frame of a watch. */
export type Frame =
  | {
      readonly type: "ADDED" | "MODIFIED" | "DELETED";
      readonly object: ObservedObject;
      readonly atNs: number;
    }
  | { readonly type: "BOOKMARK"; readonly revision: number; readonly atNs: number }
  /** The server answered 410: the history after the requested revision was compacted. */
  | { readonly type: "GONE"; readonly atNs: number };

/** One watch request with its frames in the order of their arrival. */
export interface Watch {
  /** Unique among the watches of the history. */
  readonly id: number;
  readonly client: string;
  readonly server: string;
  /** The watched workspace; absent outside of workspaces. */
  readonly workspace?: string | undefined;
  readonly prefix: string;
  /** Only events after this revision are requested. */
  readonly after: number;
  readonly beginNs: number;
  readonly frames: Frame[];
  /** The watch was open for long enough to receive every event up to this revision; absent if nothing is required. */
  mustReach?: number | undefined;
}

/** A time in which a holder of a lease acts as the leader. */
export interface LeaderTerm {
  readonly lease: string;
  readonly holder: string;
  readonly beginNs: number;
  readonly endNs: number;
}

/** A limit of the number of objects under a prefix. */
export interface Quota {
  readonly prefix: string;
  readonly limit: number;
}

/** Every object at one revision. */
export interface State {
  readonly revision: number;
  readonly objects: readonly ObservedObject[];
}

/** Everything that the judge knows. */
export interface History {
  /** The state at the beginning. No operation was running, except those listed without an answer. */
  readonly initial: State;
  /** The states of the workspaces that existed at the beginning, by name; absent if there are none. Branches of them come later. */
  readonly workspaces?: Readonly<Record<string, State>>;
  readonly operations: readonly Operation[];
  readonly watches: readonly Watch[];
  readonly terms: readonly LeaderTerm[];
  readonly quotas: readonly Quota[];
  /** Time for which servers keep superseded values. */
  readonly retentionNs: number;
  /** Time after the answer to a grant or removal in which decisions may still ignore it; the product promises 0. */
  readonly decisionDelayNs: number;
}

/** A contradiction between a history and a law. */
export interface Violation {
  readonly law: string;
  /** Names the operations and watches that contradict each other. */
  readonly message: string;
}

/** Whether an operation was answered. */
export function isAnswered(operation: Operation): operation is Answered {
  return operation.answer !== undefined;
}

/** Describes an operation for a message. */
export function describe(operation: Operation): string {
  const { id, client, server, workspace, request, answer, beginNs, endNs } = operation;
  const { verb, ...parameters } = request;
  const ms = (ns: number | undefined) => (ns === undefined ? "…" : (ns / 1e6).toFixed(3));
  const brief =
    answer?.outcome === "page"
      ? { outcome: "page", revision: answer.revision, objects: answer.objects.length, more: answer.more }
      : (answer ?? "no answer");
  return (
    `operation ${id} (${client} at ${server}${workspace === undefined ? "" : ` in ${workspace}`}, ${ms(beginNs)}–${ms(endNs)} ms: ${verb} ${JSON.stringify(parameters)} ` +
    `-> ${JSON.stringify(brief)})`
  );
}
