import type { FunctionTable } from "../functions/function-table.ts";
import type { Features } from "../language-features.ts";
import type { CelType, ObjectType } from "../types/types.ts";

/** The declarations for checking an expression. */
export interface Scope {
  /** Types of variables by name; names may have dots. */
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: FunctionTable;
  readonly features: Features;
  /** Whether list items, map keys and map values in literals must have the same type. */
  readonly uniformLiterals: boolean;
  /** Returns the type of objects that the expression constructs; undefined for an unknown name. */
  readonly constructed?: ((name: string) => ObjectType | undefined) | undefined;
}

/** Result of checking an expression. */
export interface Checked {
  /** Type of the expression. */
  readonly type: CelType;
  /** Variables of the scope that the expression uses. */
  readonly variables: ReadonlySet<string>;
}
