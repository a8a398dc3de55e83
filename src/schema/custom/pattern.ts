import type { RE2JS } from "re2js";
import { linearExpressions } from "../../base/linear-expressions.ts";

/**
 * A regular expression of others, in the syntax of RE2; compiled when it is first asked. It takes time in proportion to the
 * text, whatever it is.
 */
export class Pattern {
  private compiled: RE2JS | undefined;

  /** @param source that {@link patternFault} finds nothing wrong with. */
  constructor(readonly source: string) {}

  /** Whether some part of a text matches. */
  matches(text: string): boolean {
    return (this.compiled ??= linearExpressions().compile(this.source)).matcher(text).find();
  }
}

/** What is wrong with a pattern; undefined where it can be compiled. */
export function patternFault(source: string): string | undefined {
  try {
    linearExpressions().compile(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
