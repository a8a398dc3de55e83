import { pluginTable } from "../../src/server/admission/plugin-table.ts";
import { writeText } from "../load/http-text.ts";
import { sequenceMark, type LoadPlan } from "../load/plan.ts";
import { measureInTurns, type Side } from "../measure.ts";
import { configMap, configMapsPath } from "../objects.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";
import { makePodsAccount, pod, podsPath } from "../workloads.ts";

const connections = 16;
/** Quotas and limit ranges of the namespace that has many. */
const many = 20;

/** What the measured user creates, again and again. */
type Create = (subject: Subject, name: string) => { readonly path: string; readonly object: object };

const createPod: Create = ({ namespace }, name) => ({
  path: podsPath(namespace),
  object: pod(namespace, name),
});
const createConfigMap: Create = ({ namespace }, name) => ({
  path: configMapsPath(namespace),
  object: configMap(namespace, name),
});

/**
 * What the admission plugins cost. Creates through the plugins that are on by default, beside those of a server without any: of
 * pods, which concern most plugins, also in a namespace with many quotas and limit ranges; and of an object that concerns none.
 */
export const admission: Scenario = {
  name: "admission",
  remote: false,
  async *run(bench: Bench) {
    const subjects: Subject[] = [];
    const opened = async (flags: readonly string[]): Promise<Subject> => {
      const subject = await openSubject(bench.options, "admission", { flags });
      subjects.push(subject);
      await makePodsAccount(subject);
      return subject;
    };
    const defaults = pluginTable.filter(({ byDefault }) => byDefault).map(({ name }) => name);
    try {
      const bare = await opened([`--disable-admission-plugins=${defaults.join(",")}`]);
      const usual = await opened([]);
      const limited = await opened([]);
      await limit(limited);
      yield await beside(bench, "default plugins, create of a 3 KB pod", createPod, usual, bare, 0.8);
      yield await beside(
        bench,
        `${many} quotas and ${many} limit ranges, create of a 3 KB pod`,
        createPod,
        limited,
        usual,
        0.667,
      );
      const unconcerned = "default plugins, create of a 1 KB config map";
      yield await beside(bench, unconcerned, createConfigMap, usual, bare, 0.98);
    } finally {
      for (const subject of subjects) await subject.close();
    }
  },
};

/** So that no row creates what another did. */
let rows = 0;

/** The rate of creates at one server as a share of that at another. */
async function beside(
  { options: { rounds, seconds } }: Bench,
  name: string,
  create: Create,
  product: Subject,
  other: Subject,
  aim: number,
): Promise<Row> {
  const prefix = `row-${++rows}`;
  const side = (subject: Subject): Side => {
    const { path, object } = create(subject, `${prefix}-${sequenceMark}`);
    return { name, plan: planOf(subject, path, object), pid: subject.pid };
  };
  const [least, own] = await measureInTurns([side(other), side(product)], "answers", rounds, seconds);
  return ratioRow(`${name}, ${connections} connections`, "/s", own!, least!, aim);
}

function planOf(subject: Subject, path: string, object: object): LoadPlan {
  const text = writeText("POST", path, subject.token, JSON.stringify(object));
  return { address: subject.address, connections, request: { kind: "numbered", text, objects: 1 } };
}

/** Quotas that a pod is charged to and limit ranges that it keeps, all of them. */
async function limit({ api, namespace }: Subject): Promise<void> {
  const base = `/api/v1/namespaces/${namespace}`;
  await api.createAll(many, (index) => ({
    path: `${base}/resourcequotas`,
    object: {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: `quota-${index}` },
      spec: { hard: { pods: "10M", "requests.cpu": "10M", "limits.memory": "10Pi", "count/pods": "10M" } },
    },
  }));
  await api.createAll(many, (index) => ({
    path: `${base}/limitranges`,
    object: {
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name: `range-${index}` },
      spec: {
        limits: [
          {
            type: "Container",
            default: { cpu: "1", memory: "512Mi" },
            defaultRequest: { cpu: "100m", memory: "64Mi" },
            min: { cpu: `${index + 1}m`, memory: "1Mi" },
            max: { cpu: "8", memory: `${index + 8}Gi` },
            maxLimitRequestRatio: { cpu: "50" },
          },
          { type: "Pod", max: { cpu: "64", memory: "256Gi" } },
        ],
      },
    },
  }));
}
