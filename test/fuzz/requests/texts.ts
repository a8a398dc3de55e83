import type { Vocabulary } from "../../../src/vocabulary/vocabulary.ts";
import type { Dice } from "../../support/dice.ts";

const segments = [
  "api",
  "apis",
  "v1",
  "namespaces",
  "default",
  "pods",
  "configmaps",
  "f-a",
  "status",
  "watch",
  "proxy",
  "",
  ".",
  "..",
  "%2F",
  "%00",
  "%",
  "ü",
  "__proto__",
  "n".repeat(1000),
];
const knownPaths = [
  "/",
  "/api",
  "/apis",
  "/healthz",
  "/livez?verbose",
  "/readyz/ping",
  "/version",
  "/metrics",
  "/openapi/v2",
  "/openapi/v3",
  "/logs",
  "/debug/pprof",
  "/.well-known/openid-configuration",
  "/apis/apps/v1",
];

/** A path that has little or nothing to do with a kind. */
export function randomPath(dice: Dice): string {
  if (dice.chance(0.4)) return dice.pick(knownPaths);
  return `/${Array.from({ length: dice.below(8) }, () => dice.pick(segments)).join("/")}`;
}

const parameters: Readonly<Record<string, readonly string[]>> = {
  limit: ["1", "2", "500", "0", "-1", "x", "99999999999999999999"],
  continue: ["eyJ2IjoxLCJydiI6MSwiYWZ0ZXIiOiJhIn0", "x", ""],
  resourceVersion: ["0", "1", "x", ""],
  resourceVersionMatch: ["Exact", "NotOlderThan", "x"],
  labelSelector: ["a=b", "a in (b,c),!d", "a=", "=", ",".repeat(2000), "a notin ("],
  fieldSelector: ["metadata.name=f-a", "metadata.name!=f-a,metadata.namespace=default", "spec.x=1", "a=\\"],
  timeoutSeconds: ["0", "1", "-1", "1.5"],
  allowWatchBookmarks: ["true", "x"],
  sendInitialEvents: ["true", "false"],
  view: ["mine", "all", ""],
  pretty: ["true", "1"],
  dryRun: ["All", "x"],
  fieldManager: ["a", "", "x".repeat(200)],
  fieldValidation: ["Strict", "Warn", "Ignore", "x"],
  gracePeriodSeconds: ["0", "-1", "x"],
  propagationPolicy: ["Orphan", "Background", "Foreground", "x"],
  orphanDependents: ["true", "x"],
  watch: ["0", "false", "x"],
  includeObject: ["None", "Object", "Metadata", "x"],
};
const names = Object.keys(parameters);

/** A query of up to three parameters; empty half of the time. */
export function randomQuery(dice: Dice): string {
  if (dice.chance(0.5)) return "";
  const pairs = Array.from({ length: 1 + dice.below(3) }, () => {
    const name = dice.pick(names);
    const value = dice.pick(parameters[name]!);
    return `${name}=${dice.chance(0.95) ? encodeURIComponent(value) : value.replaceAll(/[\s#]/g, "%")}`;
  });
  return `?${pairs.join("&")}`;
}

/** An Accept header. */
export function randomAccept(dice: Dice, { protobufMediaType, groupSuffix }: Vocabulary): string {
  return dice.pick([
    "application/json",
    "application/yaml",
    protobufMediaType,
    `application/json;as=Table;v=v1;g=meta.${groupSuffix}`,
    `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${groupSuffix},application/json`,
    `${protobufMediaType};as=Table;v=v1;g=meta.${groupSuffix}`,
    "*/*;q=0.1,text/html",
    ",;,=;q=x",
    "text/html",
  ]);
}
