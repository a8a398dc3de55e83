import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Attributes } from "../authorizer.ts";
import { allowedNames } from "./allowed-names.ts";
import { explainRbac } from "./explain.ts";
import type { AccessInsight, Action, AllowedSubjects, Explanation, NamesOf, Page } from "./insight.ts";
import { whoCan } from "./who-can.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { StoredRbac } from "../rbac/stored-rbac.ts";

/** Explains decisions of RBAC from the stored roles and bindings. */
export class StoredInsight implements AccessInsight {
  constructor(
    private readonly policy: StoredRbac,
    private readonly vocabulary: Vocabulary,
  ) {}

  explain(attributes: Attributes): MaybePromise<Explanation> {
    const { policy, vocabulary } = this;
    return andThen(policy.sync(), () => explainRbac(policy.index, vocabulary, attributes, createYielder()));
  }

  whoCan(action: Action, page: Page): MaybePromise<AllowedSubjects> {
    const { policy, vocabulary } = this;
    return andThen(policy.sync(), () => whoCan(policy.index, vocabulary, action, page, createYielder()));
  }

  namesFor(user: UserInfo, namespace: string): MaybePromise<NamesOf> {
    const { policy } = this;
    return andThen(policy.sync(), () => allowedNames(policy.index, user, namespace, createYielder()));
  }
}
