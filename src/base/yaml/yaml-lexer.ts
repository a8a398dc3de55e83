import { Lexer } from "yaml";

/** The members of the library's lexer that {@link LenientLexer} uses. They are private; its tests fail if they change. */
interface LexerInternals {
  lex: Lexer["lex"];
  /** Minimum indentation of the further lines of a value. */
  indentNext: number;
  parseFlowCollection(): Generator<string, unknown>;
  parseQuotedScalar(): Generator<string, unknown>;
}

/**
 * A lexer that reads quoted scalars and flow collections at any indentation, as the reference does: only the marks of a document's
 * start and end limit them. YAML 1.2 requires that they are indented further than the member that contains them.
 */
export class LenientLexer extends (Lexer as unknown as new () => LexerInternals) {
  override *parseQuotedScalar(): Generator<string, unknown> {
    return yield* this.atAnyIndentation(super.parseQuotedScalar());
  }

  override *parseFlowCollection(): Generator<string, unknown> {
    return yield* this.atAnyIndentation(super.parseFlowCollection());
  }

  private *atAnyIndentation(tokens: Generator<string, unknown>): Generator<string, unknown> {
    const { indentNext } = this;
    this.indentNext = 0;
    try {
      return yield* tokens;
    } finally {
      this.indentNext = indentNext;
    }
  }
}
