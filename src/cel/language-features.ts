import type { EstimateRules } from "./costs/estimate.ts";

/** Features of the language besides functions; the reference release has none of them. */
export interface Features extends EstimateRules {
  /** `a.?b`, `a[?b]`, `[?a]` and `{?a: b}`, and the macro `optMap`. */
  readonly optionalSyntax?: boolean;
  /** The macro `optFlatMap`. */
  readonly optionalFlatMap?: boolean;
  /** The identifier `optional_type`. */
  readonly optionalTypeName?: boolean;
  /** Items, keys and values of literals must have equal types: a dynamic value isn't of any type. */
  readonly strictLiterals?: boolean;
  /** The depth of an expression counts operators instead of grammar rules; see `parser.ts`. */
  readonly shallowDepth?: boolean;
  /** Macros with two variables: `a.all(i, v, …)`, `transformList`, `transformMap`, `transformMapEntry`. */
  readonly twoVariableMacros?: boolean;
  /** The macro `cel.bind`. */
  readonly bindings?: boolean;
  /** The macro `sortBy`. */
  readonly sortBy?: boolean;
  /** Reserved words are field names: `self.namespace`. */
  readonly reservedFieldNames?: boolean;
  /** Quoted field names: ``a.`b-c` ``. */
  readonly quotedFieldNames?: boolean;
  /** A string literal with a lone surrogate is an error instead of a replacement character. */
  readonly noSurrogates?: boolean;
}
