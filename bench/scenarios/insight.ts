import { Api } from "../api.ts";
import { answersLimit } from "../limit-servers.ts";
import { median } from "../measure.ts";
import { measurePrepared, type PreparedSide } from "../prepared.ts";
import { differenceRow, ratioRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, vocabularyOf, type Subject } from "../subject.ts";

/** What a question may take more than the bare server, in milliseconds. */
const aimMs = 5;
const namespaces = 1000;
const groups = 500;
const checks = 1000;

/** A question to the insight group. */
interface Question {
  readonly name: string;
  readonly kind: string;
  readonly resource: string;
  readonly spec: object;
}

const asked = { user: "user-7", groups: ["team-7", "team-77", "system:authenticated"] };
const inNamespace = (verb: string, resource: string): object => ({
  resourceAttributes: { namespace: "place-7", verb, resource },
});

const questions: readonly Question[] = [
  {
    name: "explanation of a denial",
    kind: "AccessExplanation",
    resource: "accessexplanations",
    spec: { ...asked, ...inNamespace("delete", "pods") },
  },
  {
    name: "explanation of a grant",
    kind: "AccessExplanation",
    resource: "accessexplanations",
    spec: { ...asked, ...inNamespace("get", "pods") },
  },
  {
    name: "who can, a few hundred subjects",
    kind: "SubjectAccessList",
    resource: "subjectaccesslists",
    spec: inNamespace("list", "things-7"),
  },
  {
    name: "who can, everybody",
    kind: "SubjectAccessList",
    resource: "subjectaccesslists",
    spec: inNamespace("get", "pods"),
  },
];

/** Explanations and lists of who can, one after the other, with many roles and bindings; limit: the same bytes from a bare server. */
export const insight: Scenario = {
  name: "insight",
  remote: false,
  async *run(bench: Bench) {
    const bindings = bench.options.full ? 100_000 : 10_000;
    const subject = await openSubject(bench.options, "insight");
    try {
      await fill(subject, bindings / 10, bindings);
      for (const question of questions) yield await questionRow(bench, subject, question, bindings);
    } finally {
      await subject.close();
    }
  },
};

/** A thousand checks in one review; beside as many reviews, 32 at a time. */
export const bulkReview: Scenario = {
  name: "bulk-review",
  remote: false,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "bulk-review");
    try {
      await fill(subject, 100, 1000);
      const { api, pid, authorizationGroup } = subject;
      const specs = Array.from({ length: checks }, (_, index) => ({
        user: `user-${index}`,
        groups: [`team-${index % groups}`],
        ...inNamespace(index % 2 === 0 ? "get" : "delete", "pods"),
      }));
      const body = { spec: { checks: specs.map((one) => ({ subject: one })) } };
      const path = `${insightPath(bench)}/bulkaccessreviews`;
      const prepare = (): Promise<void> => Promise.resolve();
      const bulk: PreparedSide = {
        pid,
        units: checks,
        prepare,
        run: async () => void (await api.ask("POST", path, body)),
      };
      const single = `/apis/${authorizationGroup}/v1/subjectaccessreviews`;
      const singles: PreparedSide = {
        pid,
        units: checks,
        prepare,
        run: () => api.each(checks, (index) => api.ask("POST", single, { spec: specs[index]! })),
      };
      const { rounds, seconds } = bench.options;
      const [one, many] = await measurePrepared([bulk, singles], rounds, seconds);
      yield ratioRow("1,000 checks in one review beside 1,000 reviews", "checks/s", one!, many!);
    } finally {
      await subject.close();
    }
  },
};

async function questionRow(
  bench: Bench,
  { api, pid }: Subject,
  { name, kind, resource, spec }: Question,
  bindings: number,
): Promise<Row> {
  const path = `${insightPath(bench)}/${resource}`;
  const prepare = (): Promise<void> => Promise.resolve();
  const answer = await api.ask("POST", path, { kind, spec });
  const limit = await answersLimit(bench, [answer], 201);
  const client = new Api(limit.address, "");
  try {
    const own: PreparedSide = {
      pid,
      units: 1,
      prepare,
      run: async () => void (await api.ask("POST", path, { kind, spec })),
    };
    const bare: PreparedSide = {
      pid: limit.pid,
      units: 1,
      prepare,
      run: async () => void (await client.ask("POST", path, { kind, spec })),
    };
    const { rounds, seconds } = bench.options;
    const [bareSamples, ownSamples] = await measurePrepared([bare, own], rounds, seconds);
    const [bareMs, ownMs] = [bareSamples!, ownSamples!].map((samples) =>
      median(samples.map(({ p50 }) => p50)),
    );
    return differenceRow(
      `${name}, ${bindings.toLocaleString("en-US")} bindings`,
      "ms",
      ownMs!,
      bareMs!,
      aimMs,
    );
  } finally {
    client.close();
    await limit.close();
  }
}

function insightPath({ options }: Bench): string {
  return `/apis/insight.${vocabularyOf(options).groupSuffix}/v1`;
}

/**
 * Makes roles, and bindings of each to users and groups: half in the whole cluster, half over many namespaces. All let
 * read pods; one in 300 gives `things-7`.
 */
async function fill({ api, rbacGroup }: Subject, roles: number, bindings: number): Promise<void> {
  const apiVersion = `${rbacGroup}/v1`;
  const base = `/apis/${apiVersion}`;
  await api.createAll(namespaces, (index) => ({
    path: "/api/v1/namespaces",
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name: `place-${index}` } },
  }));
  await api.createAll(roles, (index) => ({
    path: `${base}/clusterroles`,
    object: {
      apiVersion,
      kind: "ClusterRole",
      metadata: { name: `role-${index}` },
      rules: [
        { apiGroups: [""], resources: ["pods", `things-${index % 300}`], verbs: ["get", "list", "watch"] },
        { apiGroups: ["apps"], resources: ["deployments", "deployments/scale"], verbs: ["create", "update"] },
        { apiGroups: [""], resources: ["secrets"], resourceNames: [`secret-${index}`], verbs: ["get"] },
      ],
    },
  }));
  await api.createAll(bindings, (index) => {
    const clusterWide = index % 2 === 0;
    const path = clusterWide ? "clusterrolebindings" : `namespaces/place-${index % namespaces}/rolebindings`;
    return {
      path: `${base}/${path}`,
      object: {
        apiVersion,
        kind: clusterWide ? "ClusterRoleBinding" : "RoleBinding",
        metadata: { name: `binding-${index}` },
        roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: `role-${Math.floor(index / 2) % roles}` },
        subjects: [
          { kind: "User", apiGroup: rbacGroup, name: `user-${(index * 7919) % (bindings / 2)}` },
          { kind: "Group", apiGroup: rbacGroup, name: `team-${index % groups}` },
        ],
      },
    };
  });
}
