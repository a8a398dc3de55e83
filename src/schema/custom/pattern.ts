import type { RE2JS } from "re2js";
import { compileLinear } from "../../base/linear-expressions.ts";

/**
 * A regular expression in the syntax of RE2, compiled on first use. Matching takes time proportional to the length of the string and
 * {@link Pattern.size}.
 */
export class Pattern {
  private compiled: { readonly expression: RE2JS; readonly size: number } | string | undefined;

  constructor(readonly source: string) {}

  /** The compilation error; undefined if the pattern is valid. */
  get error(): string | undefined {
    const compiled = this.compile();
    return typeof compiled === "string" ? compiled : undefined;
  }

  /** Whether the next use takes the time of the compilation. */
  get isNew(): boolean {
    return this.compiled === undefined;
  }

  /** Number of instructions, each of which may run for each character; 0 for an invalid pattern. */
  get size(): number {
    const compiled = this.compile();
    return typeof compiled === "string" ? 0 : compiled.size;
  }

  /** Whether a part of a string matches. An invalid pattern matches everything; its definition was rejected. */
  matches(text: string): boolean {
    const compiled = this.compile();
    return typeof compiled === "string" || compiled.expression.matcher(text).find();
  }

  private compile(): { readonly expression: RE2JS; readonly size: number } | string {
    return (this.compiled ??= compilePattern(this.source));
  }
}

/** Maximum size of the program of a pattern. */
const maxInstructions = 50_000;

function compilePattern(source: string): { readonly expression: RE2JS; readonly size: number } | string {
  try {
    const expression = compileLinear(source, maxInstructions);
    return { expression, size: expression.programSize() };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
