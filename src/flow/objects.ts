/**
 * The configuration objects of flow control as this room reads them: kinds FlowSchema and PriorityLevelConfiguration in
 * the version in which they are stored, valid and with their defaults.
 */
export interface FlowSchemaObject {
  readonly metadata: { readonly name: string; readonly uid?: string | undefined };
  readonly spec: FlowSchemaSpec;
}

export interface FlowSchemaSpec {
  readonly priorityLevelConfiguration: { readonly name: string };
  /** The lowest number that fits counts. */
  readonly matchingPrecedence: number;
  readonly distinguisherMethod?: { readonly type: string } | null | undefined;
  readonly rules?: readonly PolicyRules[] | null | undefined;
}

/** Who makes which requests: one subject and one rule must fit. */
export interface PolicyRules {
  readonly subjects?: readonly Subject[] | null | undefined;
  readonly resourceRules?: readonly ResourceRule[] | null | undefined;
  readonly nonResourceRules?: readonly PathRule[] | null | undefined;
}

/** Somebody who makes requests, described in the field of its kind. */
export interface Subject {
  readonly kind: string;
  readonly user?: { readonly name: string } | null | undefined;
  readonly group?: { readonly name: string } | null | undefined;
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | null | undefined;
}

/** Requests for resources; `*` stands alone for everything. */
export interface ResourceRule {
  readonly verbs?: readonly string[] | null | undefined;
  readonly apiGroups?: readonly string[] | null | undefined;
  readonly resources?: readonly string[] | null | undefined;
  readonly clusterScope?: boolean | undefined;
  readonly namespaces?: readonly string[] | null | undefined;
}

/** Requests for paths outside the resources; `*` at the end of one stands for anything. */
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
}

/** How much a level may do at one time, and what becomes of what is beyond. */
export interface LimitedLevel {
  readonly nominalConcurrencyShares: number;
  readonly limitResponse: { readonly type: string; readonly queuing?: Queuing | null | undefined };
  /** How much of its share others may borrow. */
  readonly lendablePercent?: number | null | undefined;
  /** How much it may borrow of others; absent: any amount. */
  readonly borrowingLimitPercent?: number | null | undefined;
}

/** The queues of a level. */
export interface Queuing {
  readonly queues: number;
  /** Among how many queues a flow chooses the shortest. */
  readonly handSize: number;
  /** How many requests may wait in one queue. */
  readonly queueLengthLimit: number;
}
