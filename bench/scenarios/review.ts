import { answersLimit } from "../limit-servers.ts";
import { writeText } from "../load/http-text.ts";
import type { Address, LoadPlan } from "../load/plan.ts";
import { measureInTurns, type Side } from "../measure.ts";
import { ratioRow, type Row } from "../rows.ts";
import type { Options } from "../options.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { namespaceObject, openSubject, removeNamespaces, type Subject } from "../subject.ts";

/** How many bindings there are, and of how many roles. */
export interface Size {
  readonly bindings: number;
  readonly roles: number;
}

const ordinarySizes: readonly Size[] = [
  { bindings: 10, roles: 1 },
  { bindings: 1000, roles: 1 },
  { bindings: 10_000, roles: 1 },
];
const largest: Size = { bindings: 100_000, roles: 10_000 };
/** Sizes from here on are held against the smallest too. */
const flatFrom = 10_000;
/** How much slower these may be than the smallest. */
const flatAim = 0.9;
const namespaces = 20;
const connections = 16;
const asked = "asked-user";

/** One kind of review, with the question that is asked. */
interface Review {
  readonly name: string;
  readonly resource: string;
  readonly aim?: number;
  body(subject: Subject): object;
}

const access: Review = {
  name: "SubjectAccessReview",
  resource: "subjectaccessreviews",
  aim: 0.5,
  body: ({ authorizationGroup, namespace }) => ({
    apiVersion: `${authorizationGroup}/v1`,
    kind: "SubjectAccessReview",
    metadata: {},
    spec: {
      user: asked,
      groups: ["askers"],
      resourceAttributes: { namespace, verb: "update", resource: "configmaps", name: "settings" },
    },
  }),
};

const rules: Review = {
  name: "SelfSubjectRulesReview",
  resource: "selfsubjectrulesreviews",
  body: ({ authorizationGroup, namespace }) => ({
    apiVersion: `${authorizationGroup}/v1`,
    kind: "SelfSubjectRulesReview",
    metadata: {},
    spec: { namespace },
  }),
};

/** Reviews with few and with many bindings; limit: a bare server that parses the body and answers as many bytes. */
export const accessReview: Scenario = {
  name: "access-review",
  remote: true,
  run: (bench) => runReview(bench, "access-review", access),
};

export const rulesReview: Scenario = {
  name: "rules-review",
  remote: true,
  run: (bench) => runReview(bench, "rules-review", rules),
};

async function* runReview(bench: Bench, name: string, review: Review): AsyncGenerator<Row> {
  const { options } = bench;
  if (options.target !== undefined) yield* runRemote(bench, name, review);
  else {
    const bound: Bound[] = [];
    try {
      for (const size of sizesOf(options)) {
        const subject = await openSubject(options, `${name}-${size.bindings}`);
        bound.push({ subject, size });
        await bind(subject, 0, size);
      }
      yield* besideEachOther(bench, review, bound);
    } finally {
      for (const { subject } of bound) await subject.close();
    }
  }
}

/** A server with bindings. */
interface Bound {
  readonly subject: Subject;
  readonly size: Size;
}

function sizesOf({ full }: Options): readonly Size[] {
  return full ? [...ordinarySizes, largest] : ordinarySizes;
}

/** All sizes and the limit in turns, so that the sizes can be held against each other too. */
async function* besideEachOther(bench: Bench, review: Review, bound: readonly Bound[]): AsyncGenerator<Row> {
  const { rounds, seconds } = bench.options;
  const first = bound[0]!.subject;
  const answer = await first.api.ask("POST", pathOf(first, review), review.body(first));
  const limit = await answersLimit(bench, [answer], 201);
  try {
    const sides: Side[] = [
      { name: `the limit of ${review.name}`, plan: planOf(limit.address, first, review), pid: limit.pid },
      ...bound.map(({ subject, size }) => ({
        name: rowName(review, size),
        plan: planOf(subject.address, subject, review),
        pid: subject.pid,
      })),
    ];
    const [bare, ...own] = await measureInTurns(sides, "answers", rounds, seconds);
    for (const [index, samples] of own.entries()) {
      yield ratioRow(rowName(review, bound[index]!.size), "/s", samples, bare!, review.aim);
    }
    const aim = review.aim === undefined ? undefined : flatAim;
    for (const [index, { size }] of bound.entries()) {
      if (size.bindings < flatFrom) continue;
      yield ratioRow(`${rowName(review, size)} beside 10`, "/s", own[index]!, own[0]!, aim);
    }
  } finally {
    await limit.close();
  }
}

/** A target is one server: it gets more and more bindings. */
async function* runRemote({ options }: Bench, name: string, review: Review): AsyncGenerator<Row> {
  const subject = await openSubject(options, name);
  let made: Size = { bindings: 0, roles: 1 };
  try {
    for (const size of sizesOf(options)) {
      await bind(subject, made.bindings, size);
      made = size;
      const side = { name: review.name, plan: planOf(subject.address, subject, review), pid: undefined };
      const [samples] = await measureInTurns([side], "answers", options.rounds, options.seconds);
      yield ratioRow(rowName(review, size), "/s", samples!, undefined);
    }
  } finally {
    await unbind(subject, made);
    await subject.close();
  }
}

function rowName({ name }: Review, { bindings }: Size): string {
  return `${name}, ${bindings.toLocaleString("en-US")} bindings`;
}

function pathOf({ authorizationGroup }: Subject, { resource }: Review): string {
  return `/apis/${authorizationGroup}/v1/${resource}`;
}

function planOf(address: Address, subject: Subject, review: Review): LoadPlan {
  const body = JSON.stringify(review.body(subject));
  const text = writeText("POST", pathOf(subject, review), subject.token, body);
  return { address, connections, request: { kind: "same", text } };
}

/**
 * Makes roles, and bindings of them from number `from` on, half of them for the whole cluster, the others over some
 * namespaces. One of the first ten lets the user that is asked about do what is asked.
 */
export async function bind(
  subject: Pick<Subject, "api" | "namespace" | "rbacGroup">,
  from: number,
  { bindings, roles }: Size,
): Promise<void> {
  const { api, namespace, rbacGroup } = subject;
  const apiVersion = `${rbacGroup}/v1`;
  const rules = [{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "list", "update"] }];
  await api.createAll(roles, (index) => ({
    path: `/apis/${apiVersion}/clusterroles`,
    object: { apiVersion, kind: "ClusterRole", metadata: { name: roleName(subject, index) }, rules },
  }));
  await api.createAll(namespaces, (index) => namespaceObject(`${namespace}-${index}`));
  await api.createAll(bindings - from, (offset) => {
    const index = from + offset;
    const clusterWide = index % 2 === 0;
    const place = index === 1 ? namespace : `${namespace}-${index % namespaces}`;
    const kind = clusterWide ? "ClusterRoleBinding" : "RoleBinding";
    const user = index === 1 ? asked : `user-${index % 997}`;
    const object = {
      apiVersion,
      kind,
      metadata: { name: bindingName(subject, index) },
      roleRef: { apiGroup: rbacGroup, kind: "ClusterRole", name: roleName(subject, index % roles) },
      subjects: [
        { kind: "User", apiGroup: rbacGroup, name: user },
        { kind: "Group", apiGroup: rbacGroup, name: `team-${index % 101}` },
      ],
    };
    const path = clusterWide ? "clusterrolebindings" : `namespaces/${place}/rolebindings`;
    return { path: `/apis/${apiVersion}/${path}`, object };
  });
}

function bindingName({ namespace }: Pick<Subject, "namespace">, index: number): string {
  return `${namespace}-binding-${index}`;
}

function roleName({ namespace }: Pick<Subject, "namespace">, index: number): string {
  return `${namespace}-role-${index}`;
}

/** Removes from a target what lies outside the bench's own namespace. */
async function unbind(subject: Subject, made: Size): Promise<void> {
  const { api, namespace, rbacGroup } = subject;
  const base = `/apis/${rbacGroup}/v1`;
  await api.each(Math.ceil(made.bindings / 2), (half) =>
    api.try("DELETE", `${base}/clusterrolebindings/${bindingName(subject, 2 * half)}`),
  );
  await api.each(made.roles, (index) =>
    api.try("DELETE", `${base}/clusterroles/${roleName(subject, index)}`),
  );
  await removeNamespaces(
    api,
    Array.from({ length: namespaces }, (_, index) => `${namespace}-${index}`),
  );
}
