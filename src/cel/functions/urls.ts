import { ValueList, ValueMap } from "../collections.ts";
import { declared, traversal, type CelFunction, type Run } from "../function-table.ts";
import type { Meter } from "../meter.ts";
import { decodedPercent } from "../../base/percent-encoding.ts";
import { escapedPath, isUrl, parseUrl } from "../url.ts";
import { Fault, noOverload, Url, type Value } from "../values.ts";

function ofUrl(run: (url: Url) => Value): Run {
  return ([url]) => (url instanceof Url ? run(url) : noOverload);
}

/** Steps for one pair of a query, as the meter counts them. */
const stepsPerPair = 40;

function decodedQuery({ query }: Url, meter: Meter): Value {
  meter.work(query.length);
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    meter.work(stepsPerPair);
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
  for (const [name, list] of values) map.set(name, new ValueList(list));
  return map;
}

/** A part of a query; undefined where a percent sign begins no escape. */
function decodedPart(text: string): string | undefined {
  if (/%(?![\da-fA-F]{2})/.test(text)) return undefined;
  return decodedPercent(text.replaceAll("+", " "));
}

const port = /:(\d*)$/;

/** The host without its port and its brackets. */
function hostname({ host }: Url): string {
  const plain = host.replace(port, "");
  return plain.startsWith("[") && plain.endsWith("]") ? plain.slice(1, -1) : plain;
}

/** Steps for reading or escaping one character, as the meter counts them. */
const stepsPerCharacter = 3;

/** Functions of URLs. */
export const urlFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "url",
    declared(
      ["(string) -> url"],
      ([text], meter) => {
        if (typeof text !== "string") return noOverload;
        meter.work(text.length * stepsPerCharacter);
        const url = parseUrl(text);
        return (
          url ??
          new Fault(`URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 128))}`)
        );
      },
      { cost: traversal },
    ),
  ],
  [
    "isURL",
    declared(["(string) -> bool"], ([text], meter) => {
      if (typeof text !== "string") return noOverload;
      meter.work(text.length * stepsPerCharacter);
      return isUrl(text);
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
    declared(["url.() -> string"], ([url], meter) => {
      if (!(url instanceof Url)) return noOverload;
      meter.work(url.path.length * stepsPerCharacter);
      return escapedPath(url);
    }),
  ],
  [
    "getQuery",
    declared(["url.() -> map<string, list<string>>"], ([url], meter) => {
      if (!(url instanceof Url)) return noOverload;
      return decodedQuery(url, meter);
    }),
  ],
];
