/** The command line of `npm run bench`. */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** A running server that the bench doesn't start. */
export interface RemoteTarget {
  readonly url: URL;
  readonly token: string;
  /** PEM of the trusted CA; undefined to skip the verification. */
  readonly ca: string | undefined;
}

export interface Options {
  /** Names of scenarios; empty: all. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Seconds per side and round. */
  readonly seconds: number;
  readonly full: boolean;
  readonly target: RemoteTarget | undefined;
  readonly vocabulary: "platform" | "kubernetes";
  /** Folder into which the product writes processor profiles. */
  readonly profile: string | undefined;
}

export const usage = `npm run bench -- [OPTIONS]

  --only NAME[,NAME]   only these scenarios (a name's beginning is enough)
  --rounds N           rounds of limit and product; the median counts (default 5)
  --seconds S          how long each side runs in a round (default 2)
  --full               the long versions too: 100,000 objects, lists of 1 GB
  --profile FOLDER     keep a processor profile of the product for each scenario and print what took the time
  --target URL         measure this server instead, without limits; needs --token
  --token T            bearer token of an administrator of the target
  --vocabulary V       platform (default) or kubernetes
  --ca FILE            authority of the target's certificate; or
  --insecure           don't check it
`;

/** @throws {Error} the message says what is wrong with the command line. */
export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
      full: { type: "boolean", default: false },
      profile: { type: "string" },
      target: { type: "string" },
      token: { type: "string" },
      vocabulary: { type: "string", default: "platform" },
      ca: { type: "string" },
      insecure: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const { vocabulary } = values;
  if (vocabulary !== "platform" && vocabulary !== "kubernetes") {
    throw new Error(`--vocabulary: ${JSON.stringify(vocabulary)} is neither platform nor kubernetes`);
  }
  return {
    only: values.only.split(",").filter((name) => name !== ""),
    rounds: Math.round(positive("rounds", values.rounds)),
    seconds: positive("seconds", values.seconds),
    full: values.full,
    target: readTarget(values),
    vocabulary,
    profile: values.profile,
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name}: ${JSON.stringify(text)} is not a number above 0`);
  return value;
}

interface TargetValues {
  readonly target?: string | undefined;
  readonly token?: string | undefined;
  readonly ca?: string | undefined;
  readonly insecure: boolean;
}

function readTarget({ target, token, ca, insecure }: TargetValues): RemoteTarget | undefined {
  if (target === undefined) return undefined;
  if (!URL.canParse(target) || new URL(target).protocol !== "https:") {
    throw new Error(`--target: ${JSON.stringify(target)} is not an https URL`);
  }
  if (token === undefined) throw new Error("--target needs --token");
  if (ca === undefined && !insecure) throw new Error("--target needs --ca FILE or --insecure");
  if (ca !== undefined && !existsSync(ca)) throw new Error(`--ca ${ca}: there is no such file`);
  return { url: new URL(target), token, ca: ca === undefined ? undefined : readFileSync(ca, "utf8") };
}
