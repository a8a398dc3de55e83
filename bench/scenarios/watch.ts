import { besideLimit } from "../beside-limit.ts";
import { commitsLimit } from "../limit-servers.ts";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject } from "../subject.ts";

/** Objects that the writers go round; a multiple of the number of writers. */
const objects = 64;
const writers = 16;
const crowds = [
  { watchers: 1, aim: undefined },
  { watchers: 100, aim: undefined },
  { watchers: 500, aim: 0.7 },
];

/** Frames that all watchers together get while 16 writers do what they can; limit: the same frames from a bare server. */
export const watch: Scenario = {
  name: "watch",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "watch");
    try {
      const { api, namespace, token } = subject;
      const path = configMapsPath(namespace);
      await api.createAll(objects, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
      const sample = await api.ask("GET", `${path}/${objectName(0)}`);
      const body = JSON.stringify(configMap(namespace, objectName("next"), 1024, sequenceMark));
      const text = writeText("PUT", `${path}/${objectName("next")}`, token, body);
      for (const { watchers, aim } of crowds) {
        const listed = JSON.parse((await api.ask("GET", `${path}?limit=1`)).toString("utf8")) as {
          metadata: { resourceVersion: string };
        };
        const from = listed.metadata.resourceVersion;
        const watching = getText(`${path}?watch=true&resourceVersion=${from}`, token);
        yield await besideLimit(bench, subject, () => commitsLimit(bench, sample), {
          name: `watch, ${watchers} watcher${watchers === 1 ? "" : "s"}`,
          unit: "events/s",
          counts: "frames",
          aim,
          plan: (address) => ({
            address,
            connections: writers,
            request: { kind: "numbered", text, objects },
            watchers: { count: watchers, text: watching },
          }),
        });
      }
    } finally {
      await subject.close();
    }
  },
};
