import type { Compiled } from "../../cel/compile.ts";

/** An expression of a policy, compiled at the first use. */
export class PolicyExpression {
  private cached: Compiled | undefined;

  constructor(
    readonly text: string,
    private readonly compile: () => Compiled,
  ) {}

  get compiled(): Compiled {
    return (this.cached ??= this.compile());
  }
}

/** An expression with a name. */
export interface NamedExpression {
  readonly name: string;
  readonly expression: PolicyExpression;
}
