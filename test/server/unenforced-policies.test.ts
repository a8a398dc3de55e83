import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Release } from "../../src/base/releases.ts";
import { kindsOfRelease } from "../../src/kinds/kinds-of-release.ts";
import * as later from "../../src/kinds/added-kinds.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { OptionsError } from "../../src/server/options/options-error.ts";
import type { StorageOptions } from "../../src/server/options/option-types.ts";
import { laterEnforcedKinds } from "../../src/server/admission/unenforced-policies.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Store } from "../../src/storage/store.ts";
import { ok } from "../api/support.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { PostgresServer, postgresMissing } from "../storage/postgres-server.ts";
import { TestServer } from "../support/api.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinth } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";

const newFolder = useTemporaryFolders();
const group = "/apis/admissionregistration.k8s.io";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];
const binding = (policyName: string, more: object = {}) => ({
  metadata: { name: "b" },
  spec: { policyName, ...more },
});

type Storage = StorageOptions | Store;

async function serve(
  release: Release,
  storage: Storage,
  work?: (server: TestServer) => Promise<void>,
  more = {},
) {
  const server = await TestServer.start({ release, vocabulary: "kubernetes", storage, ...more });
  try {
    await work?.(server);
  } finally {
    await server.close();
  }
}

/** Creates a validating and a mutating policy with a binding each, under the newest release. */
async function addPolicies(storage: Storage): Promise<void> {
  await serve("1.37", storage, async ({ admin }) => {
    const validating = {
      metadata: { name: "p" },
      spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: "false" }] },
    };
    await ok(admin.post(`${group}/v1/validatingadmissionpolicies`, validating));
    await ok(
      admin.post(
        `${group}/v1/validatingadmissionpolicybindings`,
        binding("p", { validationActions: ["Deny"] }),
      ),
    );
    const expression = 'Object{metadata: Object.metadata{labels: {"a": "b"}}}';
    const mutating = {
      metadata: { name: "p" },
      spec: {
        matchConstraints: { resourceRules: rules },
        mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }],
        reinvocationPolicy: "Never",
      },
    };
    await ok(admin.post(`${group}/v1/mutatingadmissionpolicies`, mutating));
    await ok(admin.post(`${group}/v1/mutatingadmissionpolicybindings`, binding("p")));
  });
}

async function refusal(release: Release, storage: Storage, more = {}): Promise<string> {
  const error: unknown = await serve(release, storage, undefined, more).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OptionsError);
  return (error as Error).message;
}

const validatingCounts = "1 of kind ValidatingAdmissionPolicy, 1 of kind ValidatingAdmissionPolicyBinding";
const mutatingCounts = "1 of kind MutatingAdmissionPolicy, 1 of kind MutatingAdmissionPolicyBinding";

describe("a store with policies that a later release enforced", () => {
  const withStore = async (work: (store: Store) => Promise<void>) => {
    const store = createMemoryStore({ clock: systemClock });
    try {
      await addPolicies(store);
      await work(store);
    } finally {
      await store.close();
    }
  };

  it("is refused by an earlier release, with kinds, counts and flags", () =>
    withStore(async (store) => {
      expect(await refusal("1.26", store)).toContain(
        `objects that release 1.37 enforces and this server of release 1.26 ignores: ${validatingCounts}, ${mutatingCounts}: `,
      );
    }));

  it("is refused for the kinds that the release ignores only", () =>
    withStore(async (store) => {
      const message = await refusal("1.30", store);
      expect(message).toContain(mutatingCounts);
      expect(message).not.toContain("ValidatingAdmissionPolicy");
      await serve("1.36", store);
    }));

  it("is served with acceptUnenforcedPolicies, disabled plugins, or the gates and versions that enforce them", () =>
    withStore(async (store) => {
      await serve("1.30", store, undefined, { acceptUnenforcedPolicies: true });
      await serve("1.35", store, undefined, { disabledAdmissionPlugins: ["MutatingAdmissionPolicy"] });
      const features = {
        featureGates: "MutatingAdmissionPolicy=true",
        runtimeConfig: "admissionregistration.k8s.io/v1beta1=true",
      };
      await serve("1.35", store, undefined, features);
      await refusal("1.35", store);
    }));

  it("is served by an earlier release after the policies are deleted", () =>
    withStore(async (store) => {
      await serve("1.37", store, async ({ admin }) => {
        for (const resource of ["validatingadmissionpolic", "mutatingadmissionpolic"]) {
          await ok(admin.delete(`${group}/v1/${resource}ies/p`));
          await ok(admin.delete(`${group}/v1/${resource}ybindings/b`));
        }
      });
      await serve("1.26", store);
    }));
});

it.each([[], ["--workers=2"]])(
  "plinth serve refuses a data folder with such policies: %j",
  async (...flags) => {
    const folder = newFolder();
    await addPolicies({ engine: "embedded", dir: path.join(folder, "store") });
    const words = ["serve", "--kubernetes", "--secure-port=0", `--data-dir=${folder}`, ...flags];
    // Workers are processes.
    const { code, stderr } = flags.length === 0 ? await plinthHere(...words) : plinth(...words);
    expect(stderr).toContain(
      `plinth: the store has objects that release 1.37 enforces and this server of release 1.26 ignores: ` +
        `${validatingCounts}, ${mutatingCounts}: start with --release=1.37, ` +
        "or with --accept-unenforced-policies to serve without them",
    );
    expect(code).toBe(2);
  },
);

it.skipIf(etcdMissing !== undefined)(`etcd is refused too (${etcdMissing ?? "one member"})`, async () => {
  const etcd = await EtcdServer.start();
  try {
    const storage = { engine: "etcd" as const, endpoints: [etcd.endpoint], prefix: "/p" };
    await addPolicies(storage);
    expect(await refusal("1.26", storage)).toContain(validatingCounts);
  } finally {
    await etcd.dispose();
  }
});

it.skipIf(postgresMissing !== undefined)(
  `PostgreSQL is refused too (${postgresMissing ?? "one server"})`,
  async () => {
    const database = await PostgresServer.start();
    try {
      const storage = { engine: "postgres" as const, url: database.url };
      await addPolicies(storage);
      expect(await refusal("1.26", storage)).toContain(validatingCounts);
    } finally {
      await database.dispose();
    }
  },
);

test("each kind of a later release is enforced by a plugin that is checked, or has a reason why none is", async () => {
  const enforced = (await laterEnforcedKinds()).flatMap(({ kinds }) => kinds.map(([kind]) => kind!.name));
  const inReference = new Set((await kindsOfRelease("1.26")).map(({ name }) => name));
  const names = new Set(Object.values<Kind>(later).map(({ name }) => name));
  const unexplained = [...names].filter((name) => !inReference.has(name) && !(name in enforcesNothing));
  expect(unexplained.toSorted()).toEqual(enforced.filter((name) => !inReference.has(name)).toSorted());
});

/** Kinds that restrict no request, and why. */
const enforcesNothing: Readonly<Record<string, string>> = {
  SelfSubjectReview: "it isn't stored",
  VolumeAttributesClass: "it has parameters of drivers",
  IPAddress: "it records an address",
  ServiceCIDR: "it is a range for new addresses",
  DeviceClass: "it selects devices",
  DeviceTaintRule: "a controller of another program evicts pods",
  ResourceClaim: "it requests devices",
  ResourceClaimTemplate: "it requests devices",
  ResourcePoolStatusRequest: "it is a question to drivers",
  ResourceSlice: "it describes devices",
  ClusterTrustBundle: "it has certificates for pods",
  PodCertificateRequest: "it is a request to a signer",
  LeaseCandidate: "it is for elections of other programs",
  StorageVersionMigration: "it starts a migration",
};
