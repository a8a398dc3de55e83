import { Lexer } from "yaml";
import { faultAt } from "../json/syntax-fault.ts";

/** The members of the library's lexer that {@link LenientLexer} uses. They are private; its tests fail if they change. */
interface LexerInternals {
  lex: Lexer["lex"];
  /** Minimum indentation of the further lines of a value. */
  indentNext: number;
  readonly buffer: string;
  /** Position of the next token. */
  readonly pos: number;
  /** Number of open flow collections. */
  readonly flowLevel: number;
  /** Returns the position at which a scalar continues in the line at a position; -1 if it doesn't. */
  continueScalar(position: number): number;
  pushCount(length: number): Generator<string, unknown>;
  pushSpaces(allowTabs: boolean): Generator<string, unknown>;
  pushToIndex(position: number, allowEmpty: boolean): Generator<string, unknown>;
  parseFlowCollection(): Generator<string, unknown>;
  parsePlainScalar(): Generator<string, unknown>;
  parseQuotedScalar(): Generator<string, unknown>;
}

/** The token before a scalar. */
const scalarMark = "\x1f";
/** Characters that end an unquoted scalar in a flow collection. */
const flowIndicators = ",[]{}?";

/**
 * A lexer that reads flow collections and quoted scalars as the reference does, which differ from those of YAML 1.2:
 *
 * - They may have any indentation: only the marks of a document's start and end limit them. YAML 1.2 requires that they are indented further
 *   than the member that contains them.
 * - Within flow collections a colon ends an unquoted scalar only before white space, as in `[fe80::]`, a question mark always.
 */
export class LenientLexer extends (Lexer as unknown as new () => LexerInternals) {
  override *parseQuotedScalar(): Generator<string, unknown> {
    return yield* this.atAnyIndentation(super.parseQuotedScalar());
  }

  override *parseFlowCollection(): Generator<string, unknown> {
    return yield* this.atAnyIndentation(super.parseFlowCollection());
  }

  override *parsePlainScalar(): Generator<string, unknown> {
    if (this.flowLevel === 0) return yield* super.parsePlainScalar();
    const first = this.buffer[this.pos];
    if (first === ":")
      throw faultAt(this.buffer, this.pos, "a value in brackets can't begin with a colon; put it in quotes");
    if (first === "?") {
      yield* this.pushCount(1);
      yield* this.pushSpaces(true);
    } else {
      yield scalarMark;
      yield* this.pushToIndex(this.endOfPlainScalar(), true);
    }
    return "flow";
  }

  /** The end of the unquoted scalar at the current position, without white space. */
  private endOfPlainScalar(): number {
    const { buffer } = this;
    let end = this.pos;
    for (let at = this.pos; at < buffer.length; at++) {
      const [character, next] = [buffer[at]!, buffer[at + 1]];
      if (flowIndicators.includes(character)) break;
      if (character === ":" && isBlank(next)) break;
      if (!isBlank(character) || (character === "\r" && next !== "\n")) end = at + 1;
      else if (next === "#") break;
      else if (character === "\n") {
        const line = this.continueScalar(at + 1);
        if (line === -1) break;
        // The character before the line is looked at, too: a comment may follow it.
        at = Math.max(at, line - 2);
      }
    }
    return end;
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

function isBlank(character: string | undefined): boolean {
  return character === undefined || " \t\r\n".includes(character);
}
