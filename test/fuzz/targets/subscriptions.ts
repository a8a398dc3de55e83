import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import { readFacts } from "../../../src/http/request/facts.ts";
import {
  decodeWatches,
  factsOf,
  parseWatches,
  type WatchEntry,
} from "../../../src/http/subscriptions/watch-entries.ts";
import { attempt, expectSame, jsonTokens, textOf, type Target } from "../target.ts";

/** Watches of a subscription, in parameters (one in each line) and in a body; each is the watch of the path with the same members. */
export const subscriptionTarget: Target = {
  name: "subscription",
  files: ["src/http/subscriptions/watch-entries.ts"],
  seeds: [
    "pods\napps/v1/deployments?namespace=a&labelSelector=app%3Dweb",
    "v1/configmaps?fieldSelector=metadata.name=x",
    '{"watches":[{"group":"apps","version":"v1","resource":"deployments","namespace":"a"}]}',
    '{"watches":[{"resource":"pods","labelSelector":"a in (b)","fieldSelector":"spec.nodeName=n"}]}',
  ],
  dictionary: [
    ...jsonTokens,
    "watches",
    "resource",
    "group",
    "version",
    "namespace",
    "labelSelector",
    "/",
    "?",
    "&",
    "%2F",
    "..",
  ],
  run(bytes) {
    const text = textOf(bytes);
    const body = attempt(() => decodeJson(Buffer.from(text)).value, SyntaxFault);
    const entries = attempt(
      () => (body === undefined ? parseWatches(text.split("\n")) : decodeWatches(body)),
      StatusError,
    );
    for (const entry of entries ?? []) check(entry);
  },
};

function check(entry: WatchEntry): void {
  const facts = attempt(() => factsOf(entry, undefined), StatusError);
  if (facts === undefined) return;
  const { group, version, resource, namespace } = entry;
  const at = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const path = `${at}${namespace === "" ? "" : `/namespaces/${namespace}`}/${resource}`;
  expectSame(facts.path, path, "the decoded path");
  const again = readFacts("GET", `${facts.sentPath}?watch=true`);
  expectSame([again.kind, again.verb], ["resource", "watch"], "the verb of the path");
  expectSame(facts.query.get("labelSelector") ?? "", entry.labelSelector, "the label selector");
  expectSame(facts.query.get("fieldSelector") ?? "", entry.fieldSelector, "the field selector");
}
