import { besideLimit } from "../beside-limit.ts";
import { commitsLimit } from "../limit-servers.ts";
import { getText, writeText } from "../load/http-text.ts";
import { objectMark, sequenceMark, watchedObjects } from "../load/plan.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject } from "../subject.ts";

/** The number of objects is a multiple of it. */
const writers = 20;
const watchers = 200;

/**
 * Writes while 200 watchers look on, each with a selector of its own that one write in 100 matches; limit: a bare server
 * that commits each write and writes one frame in 100 to each of as many sockets.
 */
export const selectiveWatch: Scenario = {
  name: "selective-watch",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "selective-watch");
    try {
      const { api, namespace, token } = subject;
      const path = configMapsPath(namespace);
      const labelled = (name: string, slot: string, mark = "") => {
        const object = configMap(namespace, name, 1024, mark);
        return { ...object, metadata: { ...object.metadata, labels: { app: "bench", slot } } };
      };
      await api.createAll(watchedObjects, (index) => {
        const name = objectName(index);
        return { path, object: labelled(name, name) };
      });
      const sample = await api.ask("GET", `${path}/${objectName(0)}`);
      const { resourceVersion } = (
        JSON.parse(sample.toString("utf8")) as { metadata: { resourceVersion: string } }
      ).metadata;
      const next = objectName("next");
      const text = writeText(
        "PUT",
        `${path}/${next}`,
        token,
        JSON.stringify(labelled(next, next, sequenceMark)),
      );
      // No two watchers have the same selector.
      const selector = encodeURIComponent(`slot=object-${objectMark},app!=watcher-${sequenceMark}`)
        .replaceAll(encodeURIComponent(objectMark), objectMark)
        .replaceAll(encodeURIComponent(sequenceMark), sequenceMark);
      const query = `watch=true&resourceVersion=${resourceVersion}&labelSelector=${selector}`;
      yield await besideLimit(bench, subject, () => commitsLimit(bench, sample, watchedObjects), {
        name: `writes before ${watchers} selective watchers`,
        unit: "writes/s",
        plan: (address) => ({
          address,
          connections: writers,
          request: { kind: "numbered", text, objects: watchedObjects },
          watchers: { count: watchers, text: getText(`${path}?${query}`, token) },
        }),
      });
    } finally {
      await subject.close();
    }
  },
};
