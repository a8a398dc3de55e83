import { getJson } from "./client.ts";
import type { ResourceAction } from "./access.ts";

/** A rule of a role. */
export interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

export interface Reference {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** A binding, its role and the rule that allows a request. */
export interface Grant {
  readonly binding: Reference;
  readonly role: Reference;
  readonly subject: Reference;
  readonly rule: Rule;
  readonly ruleIndex: number;
}

export interface Explanation {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly decidedBy?: string;
  readonly authorizers?: readonly { readonly name: string; readonly opinion: string }[];
  readonly grants?: readonly Grant[];
  readonly nearMisses?: readonly (Grant & { readonly missing: readonly { readonly message: string }[] })[];
  readonly faults?: readonly { readonly binding?: Reference; readonly message?: string }[];
  readonly notes?: readonly string[];
}

/** A user, as access reviews name them. */
export interface Subject {
  readonly user: string;
  readonly groups: readonly string[];
}

/** A request for a resource or for a path. */
export type Question =
  | { readonly resourceAttributes: ResourceAction }
  | { readonly nonResourceAttributes: { readonly verb: string; readonly path: string } };

/**
 * Explains whether a user may do something.
 *
 * @param workspace by default the one that the page shows.
 * @throws as `send`; the user of the console needs a right to ask.
 */
export async function explain(
  groupSuffix: string,
  subject: Subject,
  question: Question,
  workspace?: string,
): Promise<Explanation> {
  const spec = { ...subject, ...question };
  return (await post<{ status: Explanation }>(groupSuffix, "accessexplanations", spec, workspace)).status;
}

function post<T>(groupSuffix: string, resource: string, spec: object, workspace?: string): Promise<T> {
  const path = `/apis/insight.${groupSuffix}/v1/${resource}`;
  return getJson<T>(path, { method: "POST", body: { spec }, workspace });
}

/** A subject that may do something, with the bindings that allow it. */
export interface AccessSubject extends Reference {
  readonly grants?: readonly Pick<Grant, "binding" | "role">[];
}

export interface SubjectList {
  readonly subjects?: readonly AccessSubject[];
  readonly continue?: string;
  readonly unlisted?: readonly { readonly authorizer?: string; readonly message?: string }[];
}

/** Lists who may do something. @throws as `send` */
export async function whoCan(groupSuffix: string, question: Question): Promise<SubjectList> {
  const spec = { ...question, limit: 500 };
  return (await post<{ status: SubjectList }>(groupSuffix, "subjectaccesslists", spec)).status;
}

/** The result of one of many reviews; `names` are allowed if not all are. */
export interface ReviewResult {
  readonly allowed: boolean;
  readonly names?: readonly string[];
}

/** Reviews at most 1,000 requests of one user. @throws as `send` */
export async function reviewAll(
  groupSuffix: string,
  subject: Subject,
  actions: readonly ResourceAction[],
): Promise<readonly ReviewResult[]> {
  const checks = actions.map((resourceAttributes) => ({ subject: { ...subject, resourceAttributes } }));
  const spec = { checks, listNames: true };
  return (await post<{ status: { results: ReviewResult[] } }>(groupSuffix, "bulkaccessreviews", spec)).status
    .results;
}
