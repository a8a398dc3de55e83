import { headOf, plainGetText, writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { measureInTurns, medianRatio, type Sample, type Side } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { timesRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, openSubject, type Subject, vocabularyOf } from "../subject.ts";

/** Objects that the writers go round; a multiple of the number of writers. */
const objects = 64;
const writers = 16;
const crowds = [1, 500];
/** The most processor time of an event in a view, in times that of one without. */
const aim = 1.2;
const group = "bench-viewers";

/** The number of objects in a list. */
const listed = 2000;
const chunk = 500;

/**
 * Events of watches with `view=mine`, each of another user, beside those of watches of the whole collection; chunks of a list with
 * hidden objects beside chunks of the whole list.
 */
export const views: Scenario = {
  name: "views",
  remote: false,
  async *run(bench: Bench) {
    for (const watchers of crowds) yield await eventRow(bench, watchers);
    for (const hiddenOneIn of [10, 2]) yield* chunkRows(bench, hiddenOneIn);
  },
};

async function* chunkRows(bench: Bench, hiddenOneIn: number): AsyncGenerator<Row> {
  const subject = await openSubject(bench.options, "lists-of-views");
  try {
    const { api, namespace, rbacGroup, address, pid } = subject;
    const path = configMapsPath(namespace);
    await api.createAll(listed, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
    const indexes = Array.from({ length: listed }, (_, index) => index);
    const resourceNames = indexes
      .filter((index) => index % hiddenOneIn !== 0)
      .map((index) => objectName(index));
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames }];
    await grantTo(subject, "partial", rules, { kind: "User", apiGroup: rbacGroup, name: "partial" });
    const { protobufMediaType } = vocabularyOf(bench.options);
    for (const [form, accept] of [
      ["JSON", "application/json"],
      ["binary", protobufMediaType],
    ] as const) {
      const side = (query: string, lines: readonly string[]): Side => {
        const text = `GET ${path}?limit=${chunk}${query} HTTP/1.1\r\n${headOf(adminToken, lines, accept)}`;
        return {
          name: `chunks${query}`,
          pid,
          plan: { address, connections: 4, request: { kind: "same", text } },
        };
      };
      const user = ["Impersonate-User: partial", "Impersonate-Group: system:authenticated"];
      const sides = [side("", []), side("&view=mine", user)];
      const { rounds, seconds } = bench.options;
      const [whole, partial] = await measureInTurns(sides, "answers", rounds, seconds);
      yield ratioOfTimes(
        `views, ${form} chunk of ${chunk}, one in ${hiddenOneIn} objects hidden, beside a whole list`,
        "µs/chunk",
        partial!,
        whole!,
      );
    }
  } finally {
    await subject.close();
  }
}

/** Creates a role in the namespace and binds it. */
async function grantTo(
  { api, namespace, rbacGroup }: Subject,
  name: string,
  rules: readonly object[],
  subject: object,
): Promise<void> {
  const own = `/apis/${rbacGroup}/v1/namespaces/${namespace}`;
  const apiVersion = `${rbacGroup}/v1`;
  await api.ask("POST", `${own}/roles`, { apiVersion, kind: "Role", metadata: { name }, rules });
  const roleRef = { apiGroup: rbacGroup, kind: "Role", name };
  await api.ask("POST", `${own}/rolebindings`, {
    apiVersion,
    kind: "RoleBinding",
    metadata: { name },
    roleRef,
    subjects: [subject],
  });
}

async function eventRow(bench: Bench, watchers: number): Promise<Row> {
  const plain = await openSubject(bench.options, "plain-watches");
  const viewed = await openSubject(bench.options, "watches-of-views");
  try {
    const sides = [await sideOf(plain, "", watchers), await sideOf(viewed, "&view=mine", watchers)];
    const { rounds, seconds } = bench.options;
    const [without, within] = await measureInTurns(sides, "frames", rounds, seconds);
    const name = `views, ${watchers} watcher${watchers === 1 ? "" : "s"}, an event beside a plain watch`;
    return ratioOfTimes(name, "µs/event", within!, without!, aim);
  } finally {
    await plain.close();
    await viewed.close();
  }
}

/** The watchers have users of their own, all in one group; its right to get the objects is all that the view has. */
async function sideOf(subject: Subject, query: string, watchers: number): Promise<Side> {
  const { api, namespace, rbacGroup, address, pid } = subject;
  const path = configMapsPath(namespace);
  await api.createAll(objects, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }];
  await grantTo(subject, group, rules, { kind: "Group", apiGroup: rbacGroup, name: group });
  const list = JSON.parse((await api.ask("GET", `${path}?limit=1`)).toString("utf8")) as {
    metadata: { resourceVersion: string };
  };
  const from = list.metadata.resourceVersion;
  const all = "/api/v1/configmaps";
  const further = query === "" ? "system:masters" : "system:authenticated";
  const body = JSON.stringify(configMap(namespace, objectName("next"), 1024, sequenceMark));
  return {
    name: `watches${query}`,
    pid,
    plan: {
      address,
      connections: writers,
      request: {
        kind: "numbered",
        text: writeText("PUT", `${path}/${objectName("next")}`, adminToken, body),
        objects,
      },
      watchers: {
        count: watchers,
        text: plainGetText(`${all}?watch=true&resourceVersion=${from}${query}`, [
          `Authorization: Bearer ${adminToken}`,
          `Impersonate-User: viewer-${sequenceMark}`,
          `Impersonate-Group: ${group}`,
          `Impersonate-Group: ${further}`,
        ]),
      },
    },
  };
}

/** A row of the processor time of a unit, in times that of the other side, by the median of the rounds. */
function ratioOfTimes(
  name: string,
  unit: string,
  samples: readonly Sample[],
  others: readonly Sample[],
  atMost?: number,
): Row {
  const ratesByTime = (of: readonly Sample[]) => of.map((one) => ({ ...one, rate: one.serverMicros! }));
  const times = medianRatio(ratesByTime(samples), ratesByTime(others));
  const micros = others.map(({ serverMicros }) => serverMicros!).toSorted((a, b) => a - b);
  const middle = micros[Math.floor(micros.length / 2)]!;
  return timesRow(name, unit, middle * times, middle, atMost);
}
