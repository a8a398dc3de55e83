import type { ApiObject } from "../../../src/schema/kind.ts";
import { checkGet } from "../laws/reads.ts";
import { checkWrite } from "../laws/writes.ts";
import type { ApiClient } from "./api-client.ts";
import { workNamespace, workPrefix } from "./writer.ts";

interface Counter extends ApiObject {
  readonly data?: { readonly count?: string };
}

const url = `/api/v1/namespaces/${workNamespace}/configmaps`;
const name = "counter";
const key = `${workPrefix}${name}`;

/** Increments a counter, with the same request through several servers at a time: one of them may succeed. */
export async function runCounter(client: ApiClient, meanPauseMs: number): Promise<void> {
  const { world, dice } = client;
  for (; world.isActive; await client.pause(meanPauseMs)) {
    const live: Counter | undefined = checkGet(world, key, await client.request("GET", `${url}/${name}`));
    if (live === undefined) {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { count: "0" } };
      checkWrite(world, key, await client.request("POST", url, { body }));
      continue;
    }
    const body = { ...live, data: { count: String(Number(live.data?.count) + 1) } };
    const requests = Array.from({ length: dice.pick([2, 3]) }, () =>
      client.request("PUT", `${url}/${name}`, { body }),
    );
    const answers = await Promise.all(requests);
    for (const answer of answers) checkWrite(world, key, answer);
    const winners = answers.flatMap((answer) => (answer?.status === 200 ? [answer.server.name] : []));
    if (winners.length > 1)
      world.violations.add(
        "one update of a version succeeds",
        `${winners.join(" and ")} acknowledged updates of ${key} at ${live.metadata.resourceVersion}`,
      );
  }
}
