import {
  listOf,
  mapOf,
  namedTypes,
  dyn,
  typeOf,
  urlType,
  duration,
  timestamp,
  type CelType,
} from "./types.ts";

/** One form of a function: what it takes and gives. */
export interface Signature {
  /** Whether the first type is that of the value that the function is called on: `a.f(b)`. */
  readonly onValue: boolean;
  readonly takes: readonly CelType[];
  readonly gives: CelType;
}

const tokens = /\w+|->|[(),.<>]/g;
const shortNames: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["dyn", dyn],
  ["timestamp", timestamp],
  ["duration", duration],
  ["url", urlType],
]);

/**
 * Reads a signature: `string.(string) -> bool` is called on a string, `(list<A>) -> A` isn't called on anything. Names of one
 * capital letter stand for any type.
 */
export function signature(text: string): Signature {
  const reader = new SignatureReader(text.match(tokens) ?? []);
  return reader.read();
}

class SignatureReader {
  private at = 0;
  constructor(private readonly words: readonly string[]) {}

  read(): Signature {
    const takes: CelType[] = [];
    const onValue = this.words[this.at] !== "(";
    if (onValue) {
      takes.push(this.type());
      this.take(".");
    }
    this.take("(");
    while (this.words[this.at] !== ")") {
      takes.push(this.type());
      if (this.words[this.at] === ",") this.at++;
    }
    this.take(")");
    this.take("->");
    return { onValue, takes, gives: this.type() };
  }

  private type(): CelType {
    const name = this.words[this.at++]!;
    if (/^[A-Z]$/.test(name)) return { is: "parameter", name };
    if (name === "list") return listOf(this.inner());
    if (name === "type") return typeOf(this.inner());
    if (name === "map") {
      this.take("<");
      const key = this.type();
      this.take(",");
      const value = this.type();
      this.take(">");
      return mapOf(key, value);
    }
    const found = shortNames.get(name) ?? namedTypes.get(name);
    if (found === undefined) throw new Error(`no type ${name}`);
    return found;
  }

  private inner(): CelType {
    this.take("<");
    const type = this.type();
    this.take(">");
    return type;
  }

  private take(word: string): void {
    if (this.words[this.at++] !== word) throw new Error(`${word} expected`);
  }
}
