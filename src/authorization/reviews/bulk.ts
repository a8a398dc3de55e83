import type { UserInfo } from "../../base/user-info.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { Attributes } from "../authorizer.ts";
import type { AuthorizerChain } from "../authorizer-chain.ts";
import type { NamesOf } from "../insight/insight.ts";
import {
  accessStatus,
  reviewedAttributes,
  subjectOf,
  type AccessStatus,
  type SelfAccessSpec,
  type SubjectAccessSpec,
} from "./access.ts";

/** One check of a BulkAccessReview; exactly one of the fields is set. */
export interface Check {
  readonly subject?: SubjectAccessSpec | null | undefined;
  readonly self?: SelfAccessSpec | null | undefined;
}

/** Spec of a BulkAccessReview. */
export interface BulkAccessSpec {
  readonly checks: readonly Check[];
  /** Whether results list the object names for which an action is allowed that isn't allowed for all objects. */
  readonly listNames?: boolean | null | undefined;
}

/** The result of one check; empty fields are omitted. */
export interface CheckResult extends AccessStatus {
  readonly names?: readonly string[];
  readonly moreNames?: boolean;
}

/** Number of checks that run concurrently. */
const batchSize = 50;

/** Returns the results of a BulkAccessReview by `caller`, in the order of the checks. Yields to the event loop between batches. */
export async function reviewInBulk(
  { checks, listNames }: BulkAccessSpec,
  caller: UserInfo,
  chain: AuthorizerChain,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const yieldIfDue = createYielder();
  const lists = new NameLists(chain);
  for (let from = 0; from < checks.length; from += batchSize) {
    const answers = checks.slice(from, from + batchSize).map(async (check): Promise<CheckResult> => {
      const attributes = attributesOf(check, caller);
      const decision = await chain.authorize(attributes);
      const status = accessStatus(decision, attributes);
      if (listNames !== true || decision.verdict !== "noOpinion") return status;
      return { ...status, ...(await lists.namesFor(attributes)) };
    });
    results.push(...(await Promise.all(answers)));
    await yieldIfDue();
  }
  return results;
}

function attributesOf({ subject, self }: Check, caller: UserInfo): Attributes {
  // Validation requires exactly one of the two fields.
  return subject === undefined || subject === null
    ? reviewedAttributes(caller, self ?? {})
    : reviewedAttributes(subjectOf(subject), subject);
}

/** Lists names for which actions are allowed. The rules of a user in a namespace are collected once for all checks of a review. */
class NameLists {
  private readonly sources = new Map<string, Promise<readonly NamesOf[]>>();

  constructor(private readonly chain: AuthorizerChain) {}

  /** Returns no names for a check of a named object or a non-resource path. */
  async namesFor(attributes: Attributes): Promise<Pick<CheckResult, "names" | "moreNames">> {
    if (attributes.kind !== "resource" || attributes.name !== "") return {};
    const answers = (await this.sourcesFor(attributes.user, attributes.namespace)).map((namesFor) =>
      namesFor(attributes),
    );
    const lists = await Promise.all(answers);
    const names = lists.flatMap((list) => list.names);
    if (names.length === 0) return {};
    return { names, ...(lists.some(({ more }) => more) ? { moreNames: true } : {}) };
  }

  private sourcesFor(user: UserInfo, namespace: string): Promise<readonly NamesOf[]> {
    const key = JSON.stringify([user.name, user.groups, namespace]);
    let sources = this.sources.get(key);
    if (sources === undefined) {
      const insights = this.chain.links.flatMap(({ insight }) => (insight === undefined ? [] : [insight]));
      sources = Promise.all(insights.map((insight) => insight.namesFor(user, namespace)));
      this.sources.set(key, sources);
    }
    return sources;
  }
}
