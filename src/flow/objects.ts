/**
 * The configuration objects of flow control: FlowSchema and PriorityLevelConfiguration in their stored version, valid and with
 * defaults.
 */
export interface FlowSchemaObject {
  readonly metadata: { readonly name: string; readonly uid?: string | undefined };
  readonly spec: FlowSchemaSpec;
}

export interface FlowSchemaSpec {
  readonly priorityLevelConfiguration: { readonly name: string };
  /** The matching schema with the lowest number wins. */
  readonly matchingPrecedence: number;
  readonly distinguisherMethod?: { readonly type: string } | null | undefined;
  readonly rules?: readonly PolicyRules[] | null | undefined;
}

/** Matches a request if one subject and one rule match. */
export interface PolicyRules {
  readonly subjects?: readonly Subject[] | null | undefined;
  readonly resourceRules?: readonly ResourceRule[] | null | undefined;
  readonly nonResourceRules?: readonly PathRule[] | null | undefined;
}

/** A user, group or service account. */
export interface Subject {
  readonly kind: string;
  readonly user?: { readonly name: string } | null | undefined;
  readonly group?: { readonly name: string } | null | undefined;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | null | undefined;
}

/** Requests for resources; `*` matches everything. */
export interface ResourceRule {
  readonly verbs?: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly clusterScope?: boolean | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
}

/** Requests for other paths; a final `*` matches any rest. */
export interface PathRule {
  readonly verbs?: readonly string[] | null | undefined;
  readonly nonResourceURLs?: readonly string[] | null | undefined;
}

export interface PriorityLevelObject {
  readonly metadata: { readonly name: string; readonly uid?: string | undefined };
  readonly spec: PriorityLevelSpec;
}

export interface PriorityLevelSpec {
  readonly type: string;
  readonly limited?: LimitedLevel | null | undefined;
  readonly exempt?: ExemptLevel | null | undefined;
}

/** Seats of a level without a limit: what other levels must leave or may borrow. */
export interface ExemptLevel {
  readonly nominalConcurrencyShares?: number | null | undefined;
  /** Percentage of its seats that other levels may borrow while it doesn't need them. */
  readonly lendablePercent?: number | null | undefined;
}

/** Concurrency of a level, and its response above the limit. */
export interface LimitedLevel {
  readonly nominalConcurrencyShares: number;
  readonly limitResponse: { readonly type: string; readonly queuing?: Queuing | null | undefined };
  /** Percentage of its seats that other levels may borrow. */
  readonly lendablePercent?: number | null | undefined;
  /** Percentage of its seats that it may borrow; no limit if absent. */
  readonly borrowingLimitPercent?: number | null | undefined;
}

/** The queues of a level. */
export interface Queuing {
  readonly queues: number;
  /** Number of queues of a flow; a request joins the shortest. */
  readonly handSize: number;
  /** Longest queue, in requests. */
  readonly queueLengthLimit: number;
}
