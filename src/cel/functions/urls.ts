import { ValueList, ValueMap } from "../collections.ts";
import { declared, traversal, type CelFunction, type Run } from "../function-table.ts";
import { parseUrl, percentEncoded } from "../url.ts";
import { Fault, noOverload, Url, type Value } from "../values.ts";

function ofUrl(run: (url: Url) => Value): Run {
  return ([url]) => (url instanceof Url ? run(url) : noOverload);
}

function decodedQuery({ query }: Url): Value {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const equals = pair.indexOf("=");
    const name = decodedPart(equals < 0 ? pair : pair.slice(0, equals));
    const value = decodedPart(equals < 0 ? "" : pair.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  const map = new ValueMap();
  for (const [name, list] of values) map.add(name, new ValueList(list));
  return map;
}

/** A part of a query; undefined where its percent signs are no escapes. */
function decodedPart(text: string): string | undefined {
  if (/%(?![\da-fA-F]{2})/.test(text)) return undefined;
  const plus = text.replaceAll("+", " ");
  return plus.includes("%") ? decodedPercent(plus) : plus;
}

function decodedPercent(text: string): string {
  const bytes = text.replaceAll(/[^\x20-\x7e]+/g, percentEncoded);
  const latin = bytes.replaceAll(/%([\da-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(latin, "latin1").toString("utf8");
}

const port = /:(\d*)$/;

/** The host without its port and its brackets. */
function hostname({ host }: Url): string {
  const plain = host.replace(port, "");
  return plain.startsWith("[") && plain.endsWith("]") ? plain.slice(1, -1) : plain;
}

/** Functions of URLs. */
export const urlFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "url",
    declared(
      ["(string) -> url"],
      ([text]) => {
        if (typeof text !== "string") return noOverload;
        const url = parseUrl(text);
        return (
          url ??
          new Fault(`URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 128))}`)
        );
      },
      { cost: traversal, resultSize: (size) => size },
    ),
  ],
  [
    "isURL",
    declared(["(string) -> bool"], ([text], meter) => {
      if (typeof text !== "string") return noOverload;
      meter.work(text.length);
      return parseUrl(text) !== undefined;
    }),
  ],
  [
    "getScheme",
    declared(
      ["url.() -> string"],
      ofUrl(({ scheme }) => scheme),
    ),
  ],
  [
    "getHost",
    declared(
      ["url.() -> string"],
      ofUrl(({ host }) => host),
    ),
  ],
  ["getHostname", declared(["url.() -> string"], ofUrl(hostname))],
  [
    "getPort",
    declared(
      ["url.() -> string"],
      ofUrl(({ host }) => port.exec(host)?.[1] ?? ""),
    ),
  ],
  [
    "getEscapedPath",
    declared(
      ["url.() -> string"],
      ofUrl(({ escapedPath }) => escapedPath),
    ),
  ],
  [
    "getQuery",
    declared(["url.() -> map<string, list<string>>"], ([url], meter) => {
      if (!(url instanceof Url)) return noOverload;
      meter.work(url.query.length);
      return decodedQuery(url);
    }),
  ],
];
