import type { RE2JS } from "re2js";
import { linearExpressions } from "../../base/linear-expressions.ts";

/**
 * A regular expression of others, in the syntax of RE2; compiled when it is first asked. It takes time in proportion to the
 * text and to its {@link Pattern.size}, whatever it is.
 */
export class Pattern {
  private compiled: { readonly expression: RE2JS; readonly size: number } | string | undefined;

  constructor(readonly source: string) {}

  /** What is wrong with it; undefined where it can be compiled. */
  get fault(): string | undefined {
    const compiled = this.compile();
    return typeof compiled === "string" ? compiled : undefined;
  }

  /** Its instructions, each of which may be compared with each character of a text; 0 where it can't be compiled. */
  get size(): number {
    const compiled = this.compile();
    return typeof compiled === "string" ? 0 : compiled.size;
  }

  /** Whether some part of a text matches. One that can't be compiled matches everything: its definition was refused. */
  matches(text: string): boolean {
    const compiled = this.compile();
    return typeof compiled === "string" || compiled.expression.matcher(text).find();
  }

  private compile(): { readonly expression: RE2JS; readonly size: number } | string {
    return (this.compiled ??= compiledFrom(this.source));
  }
}

function compiledFrom(source: string): { readonly expression: RE2JS; readonly size: number } | string {
  try {
    const expression = linearExpressions().compile(source);
    return { expression, size: expression.programSize() };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
