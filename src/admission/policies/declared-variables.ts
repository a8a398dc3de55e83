import type { Compiled } from "../../cel/compile.ts";
import { dyn, type CelType } from "../../cel/types/types.ts";
import type { PolicyPrograms, PolicyVariables } from "./environment.ts";
import { PolicyExpression, type NamedExpression } from "./policy-expression.ts";

/** A variable in the spec of a policy. */
interface Variable {
  readonly name: string;
  readonly expression: string;
}

/** The name of a declared variable in expressions. */
export function declaredName(name: string): string {
  return `variables.${name}`;
}

/** The variables that a policy declares. All are compiled at the first use of one, in order: each has the types of the ones before it. */
export class DeclaredVariables {
  readonly expressions: readonly NamedExpression[];
  private cached: { readonly scope: PolicyVariables; readonly all: readonly Compiled[] } | undefined;

  /** @param base the other variables of the policy. */
  constructor(
    private readonly variables: readonly Variable[],
    private readonly base: PolicyVariables,
    private readonly programs: PolicyPrograms,
  ) {
    this.expressions = variables.map(({ name, expression }, index) => ({
      name,
      expression: new PolicyExpression(expression, () => this.compiled.all[index]!),
    }));
  }

  /** All variables of the policy. A variable with errors is dynamic. */
  get scope(): PolicyVariables {
    return this.compiled.scope;
  }

  private get compiled() {
    return (this.cached ??= this.compile());
  }

  private compile() {
    const declared = new Map<string, CelType>();
    const scope = { ...this.base, declared };
    const all = this.variables.map(({ name, expression }) => {
      const compiled = this.programs.get(expression, scope, undefined);
      declared.set(declaredName(name), compiled.program?.type ?? dyn);
      return compiled;
    });
    return { scope, all };
  }
}
