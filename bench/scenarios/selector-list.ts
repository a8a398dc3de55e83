import { besideLimit } from "../beside-limit.ts";
import { scanLimit } from "../limit-servers.ts";
import { getText } from "../load/http-text.ts";
import { objectName } from "../objects.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject } from "../subject.ts";

/** Lists that are read at a time. */
const connections = 4;

/**
 * Searching a large collection for what isn't there, by label and by field; limit: a bare server that reads every record
 * from the engine for each answer.
 */
export const selectorList: Scenario = {
  name: "selector-list",
  remote: true,
  async *run(bench: Bench) {
    const objects = bench.options.full ? 100_000 : 10_000;
    const subject = await openSubject(bench.options, "selector-list");
    try {
      const { api, namespace, token } = subject;
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      await api.createAll(objects, (index) => ({ path, object: secret(namespace, objectName(index)) }));
      const sample = await api.ask("GET", `${path}/${objectName(0)}`);
      const size = objects.toLocaleString("en-US");
      for (const [kind, query] of [
        ["label", "labelSelector=app%3Dnone"],
        ["field", "fieldSelector=type%3Dnone"],
      ] as const) {
        const asked = `${path}?${query}`;
        const answer = await api.ask("GET", asked);
        yield await besideLimit(bench, subject, () => scanLimit(bench, { objects, sample, answer }), {
          name: `search by ${kind}, nothing in ${size}`,
          unit: "lists/s",
          plan: (address) => ({
            address,
            connections,
            request: { kind: "same", text: getText(asked, token) },
          }),
        });
      }
    } finally {
      await subject.close();
    }
  },
};

/** A secret of about 1 KB. */
function secret(namespace: string, name: string): object {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { app: "bench", tier: "back", release: "2026-11" } },
    data: { text: "x".repeat(700) },
  };
}
