import { getText, writeText } from "../load/http-text.ts";
import type { Address, LoadPlan } from "../load/plan.ts";
import { objectMark, sequenceMark } from "../load/plan.ts";
import { measureInTurns } from "../measure.ts";
import { configMap } from "../objects.ts";
import { ratioRow } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject } from "../subject.ts";

/** Collections that are watched, each with its own writer. */
const collections = 10;

/** Events that one subscription over 10 collections gets while each is written; limit: a watch of each collection. */
export const subscription: Scenario = {
  name: "subscription",
  remote: false,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "subscription");
    try {
      const { api, address, pid, token } = subject;
      const space = (number: string) => `bench-${number}`;
      const path = (number: string) => `/api/v1/namespaces/${space(number)}/configmaps`;
      const numbers = Array.from({ length: collections }, (_, index) => String(index).padStart(6, "0"));
      for (const number of numbers) {
        await api.ask("POST", "/api/v1/namespaces", { metadata: { name: space(number) } });
        await api.ask("POST", path(number), configMap(space(number), "x"));
      }
      // The user of the load may do everything, but isn't exempt from flow control.
      await api.ask("POST", "/apis/rbac.authorization.platform.io/v1/clusterrolebindings", {
        metadata: { name: "bench-subscription" },
        roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ apiGroup: "rbac.authorization.platform.io", kind: "User", name: "bench-user" }],
      });
      const body = JSON.stringify(configMap(space(objectMark), "x", 1024, sequenceMark));
      const text = writeText("PUT", `${path(objectMark)}/x`, token, body);
      const load = (watchers: LoadPlan["watchers"]) => ({
        address: address as Address,
        connections: collections,
        request: { kind: "numbered" as const, text, objects: collections },
        watchers,
      });
      const listed = JSON.parse((await api.ask("GET", `${path(numbers[0]!)}?limit=1`)).toString("utf8")) as {
        metadata: { resourceVersion: string };
      };
      const from = `resourceVersion=${listed.metadata.resourceVersion}`;
      const watches = numbers.map((number) => `watch=configmaps%3Fnamespace%3D${space(number)}`).join("&");
      const one = { count: 1, text: getText(`/subscriptions?${from}&${watches}`, token) };
      const many = { count: collections, text: getText(`${path(objectMark)}?watch=true&${from}`, token) };
      const { rounds, seconds } = bench.options;
      const sides = [
        { name: `${collections} watches`, plan: load(many), pid },
        { name: "1 subscription", plan: load(one), pid },
      ];
      const [separate, joined] = await measureInTurns(sides, "frames", rounds, seconds);
      yield ratioRow(`1 subscription over ${collections} collections`, "events/s", joined!, separate!);
    } finally {
      await subject.close();
    }
  },
};
