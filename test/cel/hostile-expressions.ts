import type { JsonValue } from "../../src/base/json/value.ts";

/** A slow expression about {@link hostileObject}. */
export interface HostileExpression {
  readonly title: string;
  /** `self` is the object. */
  readonly expression: string;
}

const numbers = Array.from({ length: 10_000 }, (_, index) => index);
const longPrefix = "p".repeat(16_400);
const longTexts = Array.from({ length: 150 }, (_, index) => `${longPrefix}${1000 + index}`);

/** An object of several megabytes whose values make operations slow. */
export const hostileObject = {
  numbers,
  text: "a".repeat(1_000_000),
  half: "a".repeat(300_000),
  missing: `b${"a".repeat(74_999)}`,
  missingAtEnd: `${"a".repeat(74_999)}b`,
  key: "k".repeat(16_000),
  map: Object.fromEntries(numbers.map((index) => [`k${index}`, index])),
  longKeys: Object.fromEntries(longTexts.map((text, index) => [text, index])),
  longTexts,
  query: `http://a/?${"a&".repeat(400_000)}`,
  escapedQuery: `http://a/?${"é%41".repeat(200_000)}`,
  spaces: `http://a/${" ".repeat(1_000_000)}`,
  letters: "aB".repeat(500_000),
  blanks: " ".repeat(1_000_000),
  time: "2020-01-01T00:00:00Z",
  records: Array.from({ length: 2_000 }, (_, index) => ({ id: index, inner: { list: [index] } })),
} satisfies Readonly<Record<string, JsonValue>>;

const integers = { type: "array", items: { type: "integer" } };
const text = { type: "string" };
const integerMap = { type: "object", additionalProperties: { type: "integer" } };

/** The schema of {@link hostileObject}. */
export const hostileSchema = {
  type: "object",
  properties: {
    numbers: integers,
    ...Object.fromEntries(
      Object.entries(hostileObject).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, text]] : [],
      ),
    ),
    map: integerMap,
    longKeys: integerMap,
    longTexts: { type: "array", items: text },
    records: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          inner: { type: "object", properties: { list: integers } },
        },
      },
    },
  },
};

const forEach = (body: string): string => `self.numbers.all(i, ${body})`;
const forPairs = (body: string): string => forEach(`self.numbers.all(j, ${body})`);
const chain = (count: number, operand: string, operator: string): string =>
  Array.from({ length: count }, () => operand).join(operator);

/** Returns an expression that doubles a list repeatedly. */
function doubled(times: number, start: string): string {
  let expression = start;
  for (let count = 0; count < times; count++) expression = `[${expression}].map(s, s + s)[0]`;
  return expression;
}

export const hostileExpressions: readonly HostileExpression[] = [
  { title: "lastIndexOf, missing", expression: forEach("self.half.lastIndexOf(self.missing) < 0") },
  { title: "lastIndexOf, late", expression: forEach("self.half.lastIndexOf(self.missingAtEnd) < 0") },
  { title: "indexOf, missing", expression: forEach("self.half.indexOf(self.missing) < 0") },
  { title: "indexOf, late", expression: forEach("self.half.indexOf(self.missingAtEnd) < 0") },
  { title: "indexOf from an index", expression: forEach("self.half.indexOf(self.missingAtEnd, i) < 0") },
  { title: "contains", expression: forEach("!self.half.contains(self.missingAtEnd.substring(74800))") },
  { title: "split by a long text", expression: forEach("self.half.split(self.missingAtEnd).size() == 1") },
  { title: "split into many parts", expression: forEach("self.text.split('a').size() > 0") },
  { title: "split into characters", expression: forEach("self.text.split('').size() > 0") },
  { title: "replace a long text", expression: forEach("self.half.replace(self.missingAtEnd, 'x') != ''") },
  { title: "replace many occurrences", expression: forEach("self.text.replace('a', 'b') != ''") },
  { title: "replace the empty string", expression: forEach("self.text.replace('', 'b') != ''") },
  { title: "a list that is doubled repeatedly", expression: `${doubled(18, "self.numbers")}.all(x, true)` },
  { title: "an empty list that is doubled repeatedly", expression: `${doubled(18, "[]")}.all(x, true)` },
  {
    title: "items of a list that is doubled repeatedly",
    expression: `[${doubled(8, "self.numbers")}].all(x, ${forEach("x[i] >= 0")})`,
  },
  {
    title: "a chain of lists",
    expression: `[${chain(100, "self.numbers", " + ")}].all(x, x.all(i, true))`,
  },
  {
    title: "items of a chain of lists",
    expression: `[${chain(100, "self.records", " + ")}].all(x, ${forEach("x[i].id >= 0")})`,
  },
  { title: "sizes of maps", expression: forEach("self.map.size() > 0") },
  { title: "equality of maps", expression: forEach("self.map == self.map") },
  { title: "equality of records", expression: forEach("self.records == self.records") },
  { title: "long keys", expression: forEach("self.longKeys[self.longTexts[149]] == 149") },
  {
    title: "a long key of a small map",
    expression: `[self.key].all(k, ${forPairs("!(k in {'a': j})")})`,
  },
  { title: "long strings in a list", expression: forEach("!((self.key + 'a') in self.longTexts)") },
  { title: "minimum of long strings", expression: forEach("self.longTexts.min() != ''") },
  { title: "joining long strings", expression: forEach("self.longTexts.join(',') != ''") },
  { title: "a wide list", expression: forEach(`[${"1,".repeat(40_000)}i].size() > 0`) },
  { title: "a wide conjunction", expression: forEach(chain(14_000, "true", "&&")) },
  { title: "a wide disjunction", expression: forEach(`(${chain(12_000, "false", "||")}) || true`) },
  { title: "filtering", expression: forEach("self.numbers.filter(x, false).size() == 0") },
  { title: "counting", expression: forEach("!self.numbers.exists_one(x, false)") },
  { title: "timestamps from strings", expression: forPairs("timestamp(self.time) == timestamp(self.time)") },
  {
    title: "durations from strings",
    expression: forPairs("duration('1h' + string(j) + 's') > duration(string(j) + 's')"),
  },
  {
    title: "parts of timestamps",
    expression: `[timestamp(self.time)].all(t, ${forPairs("t.getHours() <= 24 && t.getDate() > 0")})`,
  },
  {
    title: "time zones of timestamps",
    expression: forEach("timestamp(i).getHours('America/New_York') >= 0"),
  },
  { title: "strings from empty bytes", expression: forPairs("string(bytes('')) == ''") },
  { title: "strings from integers", expression: forPairs("int(string(j)) == j") },
  { title: "types", expression: forPairs("type(i) == type(j)") },
  { title: "a long query", expression: forEach("url(self.query).getQuery().size() > 0") },
  { title: "an escaped query", expression: forEach("url(self.escapedQuery).getQuery().size() > 0") },
  { title: "a path of spaces", expression: forEach("url(self.spaces).getEscapedPath() != ''") },
  { title: "a URL of spaces", expression: forEach("isURL(self.spaces)") },
  { title: "lower case", expression: forEach("self.letters.lowerAscii() != ''") },
  { title: "upper case", expression: forEach("self.letters.upperAscii() != ''") },
  { title: "trimming blanks", expression: forEach("self.blanks.trim() == ''") },
  { title: "characters of a text", expression: forEach("self.text.charAt(i) != ''") },
  { title: "order of texts", expression: forEach("self.text + 'a' > self.text") },
];

/** Costs what one evaluation may cost at most, in steps that are cheap: what a machine takes for it is its pace. */
export const plainExpression = forPairs("i + j + i + j + i + j >= 0");
