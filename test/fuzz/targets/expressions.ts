import { estimateInstructions, compileLinear } from "../../../src/base/linear-expressions.ts";
import { JsonPath, JsonPathFault } from "../../../src/base/json/json-path.ts";
import { bind, compile, type Environment } from "../../../src/cel/compile.ts";
import { languageOf } from "../../../src/cel/libraries.ts";
import { dyn } from "../../../src/cel/types/types.ts";
import { parseFieldPath } from "../../../src/kinds/apiextensions/field-path.ts";
import { attempt, textOf, type Target } from "../target.ts";

const object = {
  kind: "A",
  list: [1, { a: "b", n: 2 }, [3, 4], null],
  map: { k: "v", "x.y": { z: true }, n: 1.5 },
};
const environment: Environment = { variables: new Map([["self", dyn]]) };
const laterEnvironment: Environment = { ...environment, language: languageOf("1.37", "stored") };

/** Expressions: compiling and evaluating report faults and never throw. */
export const celTarget: Target = {
  name: "cel",
  files: [
    "src/cel/checking/checker.ts",
    "src/cel/compile.ts",
    "src/cel/values/ip-addresses.ts",
    "src/cel/values/quantities.ts",
    "src/cel/values/semantic-versions.ts",
    "src/cel/syntax/tokens.ts",
    "src/cel/syntax/parser.ts",
    "src/cel/evaluation/plan.ts",
    "src/cel/syntax/tokens.ts",
    "src/cel/costs/estimate.ts",
  ],
  seeds: [
    "self.list.all(x, x != null) && self.kind == 'A'",
    "has(self.map.k) ? self.map['k'].size() : -1",
    "[1, 2u, 3.5].map(x, x * x).exists(y, y > 2)",
    "duration('1h') + timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')",
    "'abc'.matches('^a.*c$') || r'\\d' == \"\\u0041\\x41\\101\"",
    "b'\\xff' == bytes('a') || type(1) == int && string(1) == '1'",
    "self.list.filter(i, type(i) == int).sum() in {1: 'a', 2: 'b'}",
    "ip('fe80::1').family() == 6 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && isIP('::ffff:1.2.3.4')",
    "quantity('1.5Gi').add(quantity('-2e3')).isInteger() && semver('v1.2.3-rc.1', true).major() == 1",
    "'%s %.2f %x'.format([self.list, 1.5, 255]) == format.uri().validate(self.kind).orValue(['a'])[0]",
    "self.?map.?k.orValue('') == optional.of(self.map)[?'k'].optMap(x, x + 'y').value()",
    "self.map.transformMap(k, v, k != 'n', [?optional.of(v)]).all(k, v, v.size() == 1)",
    "'a,b'.split(',').join('-').replace('a', 'b').lowerAscii().find('[a-z]+')",
  ],
  dictionary: [
    "self",
    ".",
    "(",
    ")",
    "[",
    "]",
    "?",
    ":",
    "&&",
    "||",
    "!",
    "-",
    "in",
    "has(",
    ".all(x,",
    ".map(x,",
    ".?",
    "[?",
    ".transformMapEntry(k,v,",
    ".optFlatMap(x,",
    ".sortBy(x,",
    "`",
    "'",
    '"""',
    "0x",
    "u",
    "1e9",
    "{",
    "}",
  ],
  maxBytes: 1024,
  run(bytes) {
    for (const one of [environment, laterEnvironment]) {
      const { program } = compile(textOf(bytes), one);
      program?.evaluate(bind(one, { self: object }), 20_000);
      program?.estimateCost(dyn);
    }
  },
};

/** JSONPath of printer columns. */
export const jsonPathTarget: Target = {
  name: "json-path",
  files: ["src/base/json/json-path.ts"],
  seeds: [
    ".map.k",
    ".list[1].a",
    "$..a",
    ".list[0:2:1]",
    '.list[?(@.a=="b")].n',
    ".map['x.y','k']",
    ".map.x\\.y.z",
    "[*]",
  ],
  dictionary: [".", "..", "[", "]", "[*]", "?(@.", "==", ">=", "'", '"', ":", "-1", "\\"],
  maxBytes: 512,
  run(bytes) {
    const path = attempt(() => JsonPath.parse(textOf(bytes)), JsonPathFault);
    path?.first(object, 10_000);
  },
};

/** Field paths of rules and of selectable fields. */
export const fieldPathTarget: Target = {
  name: "field-path",
  files: ["src/kinds/apiextensions/field-path.ts"],
  seeds: [".spec.names", ".spec['a b'].c", ".['\\'\\\\']"],
  dictionary: [".", "['", "']", "\\", "\\'", "'", "[", "]"],
  maxBytes: 512,
  run(bytes) {
    const text = textOf(bytes);
    const segments = parseFieldPath(text);
    if (segments?.every(({ isQuoted }) => !isQuoted) === true) {
      const path = segments.map(({ name }) => `.${name}`).join("");
      if (path !== text) throw new Error(`the path ${text} is read as ${path}`);
    }
  },
};

/** Regular expressions from clients: the estimate is at least the size of the program, so that large ones are refused. */
export const regularExpressionTarget: Target = {
  name: "regular-expression",
  files: ["src/base/linear-expressions.ts", "src/base/linear-expressions.ts"],
  seeds: [
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "(a|b){2,5}x*?",
    "\\pL\\d\\Q*\\E[[:alpha:]^]",
    "(?i)(?P<n>a{3}){4}",
  ],
  dictionary: [
    "(",
    ")",
    "[",
    "]",
    "{2,9}",
    "{1000}",
    "*",
    "+",
    "?",
    "|",
    "\\Q",
    "\\E",
    "\\p{Greek}",
    "(?:",
    "[^",
    "(?i)",
    ".",
  ],
  maxBytes: 256,
  run(bytes) {
    const text = textOf(bytes);
    const estimate = estimateInstructions(text);
    if (!(estimate >= 0)) throw new Error(`the estimate is ${estimate}`);
    const compiled = compiledWithin(text, 5000);
    if (compiled !== undefined && compiled.programSize() > estimate) {
      throw new Error(`the program has ${compiled.programSize()} instructions, the estimate is ${estimate}`);
    }
  },
};

/** The library's errors are documented as any `Error`; errors of the language aren't allowed. */
function compiledWithin(text: string, maxInstructions: number) {
  try {
    return compileLinear(text, maxInstructions);
  } catch (error) {
    if (error instanceof Error && /^(?:Error|RE2JS)/.test(error.name)) return undefined;
    throw error;
  }
}
