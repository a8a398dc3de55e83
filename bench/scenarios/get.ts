import { besideLimit } from "../beside-limit.ts";
import { answersLimit } from "../limit-servers.ts";
import { getText } from "../load/http-text.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject } from "../subject.ts";

/** Reading one object, by a user with a RoleBinding; limit: the same bytes from a bare server. */
export const get: Scenario = {
  name: "get",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "get");
    try {
      const { api, namespace, token } = subject;
      const path = `${configMapsPath(namespace)}/${objectName(0)}`;
      await api.ask("POST", configMapsPath(namespace), configMap(namespace, objectName(0)));
      const body = await api.ask("GET", path);
      yield await besideLimit(bench, subject, () => answersLimit(bench, [body]), {
        name: "get, 1 KB",
        unit: "/s",
        aim: 0.6,
        plan: (address) => ({
          address,
          connections: 16,
          request: { kind: "same", text: getText(path, token) },
        }),
      });
    } finally {
      await subject.close();
    }
  },
};
