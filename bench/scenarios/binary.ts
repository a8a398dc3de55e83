import { besideLimit } from "../beside-limit.ts";
import { answersLimit, commitsLimit } from "../limit-servers.ts";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject, vocabularyOf } from "../subject.ts";
import { makePodsAccount, pod, podsPath } from "../workloads.ts";

/** Objects of each kind. */
const objects = 1000;
/** Objects of the long list. */
const manyObjects = 20_000;
const watchers = 100;
/** Objects that the writers go round, and how many writers there are. */
const watchedObjects = 64;
const writers = 16;

interface Read {
  readonly name: string;
  readonly unit: string;
  readonly path: string;
  readonly accept: string;
  readonly connections: number;
}

/** Reading in the binary form, one object and many; limit: as many bytes from a bare server. */
export const binary: Scenario = {
  name: "binary",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "binary");
    try {
      const accept = vocabularyOf(bench.options).protobufMediaType;
      for (const [kind, path] of await fill(subject)) {
        const one = `${path}/${objectName(0)}`;
        const get = { name: `binary get, ${kind}`, unit: "/s", path: one, accept, connections: 16 };
        const list = { name: `binary list, 1,000 x ${kind}`, unit: "lists/s", path, accept, connections: 4 };
        yield await rowOf(bench, subject, get);
        yield await rowOf(bench, subject, list);
      }
      yield await watchRow(bench, subject, accept);
      yield* longLists(bench, subject, accept);
    } finally {
      await subject.close();
    }
  },
};

/** Listing pods as kubectl does; limit: as many bytes from a bare server. */
export const table: Scenario = {
  name: "table",
  remote: true,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "table");
    try {
      const { api, namespace } = subject;
      const path = podsPath(namespace);
      await makePodsAccount(subject);
      await api.createAll(objects, (index) => ({ path, object: pod(namespace, objectName(index)) }));
      const { groupSuffix } = vocabularyOf(bench.options);
      const forms = ["v1", "v1beta1"].map(
        (version) => `application/json;as=Table;v=${version};g=meta.${groupSuffix}`,
      );
      const accept = [...forms, "application/json"].join(",");
      const lists = { unit: "lists/s", accept, connections: 4 };
      yield await rowOf(bench, subject, { ...lists, name: "table, list of 1,000 x 3 KB pod", path });
      const page = `${path}?limit=500`;
      yield await rowOf(bench, subject, { ...lists, name: "table, page of 500 x 3 KB pod", path: page });
    } finally {
      await subject.close();
    }
  },
};

async function fill(subject: Subject): Promise<[kind: string, path: string][]> {
  const { api, namespace } = subject;
  await makePodsAccount(subject);
  const configMaps = configMapsPath(namespace);
  const pods = podsPath(namespace);
  await api.createAll(objects, (index) => ({
    path: configMaps,
    object: configMap(namespace, objectName(index)),
  }));
  await api.createAll(objects, (index) => ({ path: pods, object: pod(namespace, objectName(index)) }));
  return [
    ["1 KB config map", configMaps],
    ["3 KB pod", pods],
  ];
}

/** The same long list in both forms. */
async function* longLists(bench: Bench, subject: Subject, protobuf: string): AsyncGenerator<Row> {
  const { api, namespace } = subject;
  const path = configMapsPath(namespace);
  await api.createAll(manyObjects, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
  const unit = "lists/s";
  const name = "list, 20,000 x 1 KB config map";
  yield await rowOf(bench, subject, { name: `binary ${name}`, unit, path, accept: protobuf, connections: 4 });
  yield await rowOf(bench, subject, { name, unit, path, accept: "application/json", connections: 4 });
}

/** Frames in the binary form; limit: JSON frames of about as many bytes from a bare server. */
async function watchRow(bench: Bench, subject: Subject, accept: string): Promise<Row> {
  const { api, namespace, token } = subject;
  const path = configMapsPath(namespace);
  const one = `${path}/${objectName(0)}`;
  const sample = await api.ask("GET", one, undefined, accept);
  const { metadata } = JSON.parse((await api.ask("GET", `${path}?limit=1`)).toString("utf8")) as {
    metadata: { resourceVersion: string };
  };
  const body = JSON.stringify(configMap(namespace, objectName("next"), 1024, sequenceMark));
  const text = writeText("PUT", `${path}/${objectName("next")}`, token, body);
  const watching = getText(`${path}?watch=true&resourceVersion=${metadata.resourceVersion}`, token, accept);
  return besideLimit(bench, subject, () => commitsLimit(bench, sample), {
    name: `binary watch, ${watchers} watchers`,
    unit: "events/s",
    counts: "frames",
    plan: (address) => ({
      address,
      connections: writers,
      request: { kind: "numbered", text, objects: watchedObjects },
      // The type of the event, which is text in both forms.
      watchers: { count: watchers, text: watching, mark: "MODIFIED" },
    }),
  });
}

async function rowOf(bench: Bench, subject: Subject, read: Read): Promise<Row> {
  const { name, unit, path, accept, connections } = read;
  const body = await subject.api.ask("GET", path, undefined, accept);
  return besideLimit(bench, subject, () => answersLimit(bench, [body]), {
    name,
    unit,
    plan: (address) => ({
      address,
      connections,
      request: { kind: "same", text: getText(path, subject.token, accept) },
    }),
  });
}
