import type { UserInfo } from "../base/user-info.ts";
import { meansRequest, meansUser } from "./matching.ts";
import type { FlowSchemaObject, PolicyRules } from "./objects.ts";
import type { FlowRequest } from "./request.ts";

/** A flow schema with what is to be known of requests that it is about. */
export interface Classified<T> {
  readonly schema: FlowSchemaObject;
  readonly value: T;
}

/** A schema as far as it concerns one user: the rules that name them. */
interface Candidate<T> {
  readonly value: T;
  readonly rules: readonly PolicyRules[];
}

/**
 * Finds the flow schema of a request: of those that fit, the one of lowest precedence, and of these the first by name.
 * Which schemas can fit a user is worked out once for each user object, so that a request costs little.
 */
export class Classifier<T> {
  private readonly ordered: readonly Classified<T>[];
  private readonly byUser = new WeakMap<UserInfo, readonly Candidate<T>[]>();

  constructor(
    schemas: readonly Classified<T>[],
    private readonly systemPrefix: string,
  ) {
    this.ordered = schemas.toSorted((a, b) => {
      const difference = a.schema.spec.matchingPrecedence - b.schema.spec.matchingPrecedence;
      return difference !== 0 ? difference : a.schema.metadata.name < b.schema.metadata.name ? -1 : 1;
    });
  }

  /** What goes with the schema of the request; undefined when none fits. */
  classify(request: FlowRequest, user: UserInfo): T | undefined {
    let candidates = this.byUser.get(user);
    if (candidates === undefined) this.byUser.set(user, (candidates = this.candidatesOf(user)));
    for (const { value, rules } of candidates) {
      for (const rule of rules) if (meansRequest(rule, request)) return value;
    }
    return undefined;
  }

  private candidatesOf(user: UserInfo): Candidate<T>[] {
    return this.ordered
      .map(({ schema, value }) => ({
        value,
        rules: (schema.spec.rules ?? []).filter((rule) => meansUser(rule, user, this.systemPrefix)),
      }))
      .filter(({ rules }) => rules.length > 0);
  }
}
