import { besideLimit } from "../beside-limit.ts";
import { answersLimit } from "../limit-servers.ts";
import { getText } from "../load/http-text.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject, vocabularyOf } from "../subject.ts";
import { pod, podsPath } from "../workloads.ts";

/** Objects of each kind. */
const objects = 1000;

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
      await api.createAll(objects, (index) => ({ path, object: pod(namespace, objectName(index)) }));
      const { groupSuffix } = vocabularyOf(bench.options);
      const forms = ["v1", "v1beta1"].map(
        (version) => `application/json;as=Table;v=${version};g=meta.${groupSuffix}`,
      );
      const accept = [...forms, "application/json"].join(",");
      const name = "table, list of 1,000 x 3 KB pod";
      yield await rowOf(bench, subject, { name, unit: "lists/s", path, accept, connections: 4 });
    } finally {
      await subject.close();
    }
  },
};

async function fill({ api, namespace }: Subject): Promise<[kind: string, path: string][]> {
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
