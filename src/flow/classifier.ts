import type { UserInfo } from "../base/user-info.ts";
import { meansRequest, meansUser } from "./matching.ts";
import type { FlowSchemaObject, PolicyRules } from "./objects.ts";
import type { FlowRequest } from "./request.ts";

/** A flow schema and the value that belongs to it. */
export interface Classified<T> {
  readonly schema: FlowSchemaObject;
  readonly value: T;
}

/** A schema and its rules for one user. */
interface Candidate<T> {
  readonly value: T;
  readonly rules: readonly PolicyRules[];
}

/**
 * Finds the flow schema of a request: of the matching ones, that with the lowest precedence, then the first by name. The schemas
 * that can match a user are cached by user object.
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

  /** The value of the schema that matches the request; undefined if none matches. */
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
