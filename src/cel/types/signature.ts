import {
  authorizerType,
  cidrType,
  decisionType,
  formatType,
  groupCheckType,
  ipType,
  pathCheckType,
  quantityType,
  resourceCheckType,
  semverType,
} from "./opaque-types.ts";
import {
  listOf,
  mapOf,
  namedTypes,
  dyn,
  optionalOf,
  typeOf,
  urlType,
  duration,
  timestamp,
  type CelType,
} from "./types.ts";

/** An overload of a function: types of arguments and result. */
export interface Signature {
  /** Whether the first type is that of the receiver: `a.f(b)`. */
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
  ["ip", ipType],
  ["cidr", cidrType],
  ["quantity", quantityType],
  ["semver", semverType],
  ["format", formatType],
  ["authorizer", authorizerType],
  ["pathCheck", pathCheckType],
  ["groupCheck", groupCheckType],
  ["resourceCheck", resourceCheckType],
  ["decision", decisionType],
]);

/**
 * Parses a signature: `string.(string) -> bool` has a string as receiver, `(list<A>) -> A` has no receiver. A single capital letter
 * is a type parameter.
 */
export function signature(text: string): Signature {
  const reader = new SignatureReader(text.match(tokens) ?? []);
  return reader.read();
}

class SignatureReader {
  private at = 0;
  constructor(private readonly tokenList: readonly string[]) {}

  read(): Signature {
    const takes: CelType[] = [];
    const onValue = this.tokenList[this.at] !== "(";
    if (onValue) {
      takes.push(this.type());
      this.take(".");
    }
    this.take("(");
    while (this.tokenList[this.at] !== ")") {
      takes.push(this.type());
      if (this.tokenList[this.at] === ",") this.at++;
    }
    this.take(")");
    this.take("->");
    return { onValue, takes, gives: this.type() };
  }

  private type(): CelType {
    const name = this.tokenList[this.at++]!;
    if (/^[A-Z]$/.test(name)) return { is: "parameter", name };
    if (name === "list") return listOf(this.inner());
    if (name === "type") return typeOf(this.inner());
    if (name === "optional") return optionalOf(this.inner());
    if (name === "map") {
      this.take("<");
      const key = this.type();
      this.take(",");
      const value = this.type();
      this.take(">");
      return mapOf(key, value);
    }
    const type = shortNames.get(name) ?? namedTypes.get(name);
    if (type === undefined) throw new Error(`no type ${name}`);
    return type;
  }

  private inner(): CelType {
    this.take("<");
    const type = this.type();
    this.take(">");
    return type;
  }

  private take(word: string): void {
    if (this.tokenList[this.at++] !== word) throw new Error(`${word} expected`);
  }
}
