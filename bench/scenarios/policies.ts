import { median, type Sample } from "../measure.ts";
import { measurePrepared, type PreparedSide } from "../prepared.ts";
import { differenceRow } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, vocabularyOf, type Subject } from "../subject.ts";

const policyCount = 100;
/** What a create may take with so many policies, beside the same without, in milliseconds. */
const aimMs = 1;
/** So many creates in one run, so that a run is longer than the machine's hiccups. */
const creates = 50;

/** Creates of a pod of two containers, one after the other, with a hundred validating policies that match, beside none. */
export const policies: Scenario = {
  name: "policies",
  remote: false,
  async *run(bench: Bench) {
    const { options } = bench;
    const group = `admissionregistration.${vocabularyOf(options).groupSuffix}/v1alpha1`;
    const flags = ["--feature-gates=ValidatingAdmissionPolicy=true", `--runtime-config=${group}=true`];
    const subject = await openSubject(options, "policies", { flags });
    const other = await openSubject(options, "policies-none", { flags });
    try {
      await createPolicies(subject, `/apis/${group}`);
      const sides = [creating(subject), creating(other)];
      const [many, none] = await measurePrepared(sides, options.rounds, options.seconds);
      yield differenceRow(`pod with ${policyCount} policies`, "ms", p50Of(many!), p50Of(none!), aimMs);
    } finally {
      await subject.close();
      await other.close();
    }
  },
};

/** Of one create. */
function p50Of(samples: readonly Sample[]): number {
  return median(samples.map(({ p50 }) => p50)) / creates;
}

/** Policies of two expressions each, which look at every container; all of them hold. */
async function createPolicies({ api }: Subject, group: string): Promise<void> {
  const rule = {
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["CREATE", "UPDATE"],
    resources: ["pods"],
  };
  await api.createAll(policyCount, (index) => ({
    path: `${group}/validatingadmissionpolicies`,
    object: {
      metadata: { name: `bench-${index}` },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [
          {
            expression: `object.spec.containers.all(c, c.name != 'refused-${index}' && (!has(c.securityContext) || !has(c.securityContext.privileged)))`,
          },
          { expression: `object.spec.containers.all(c, c.image.matches('^example[.]com/[a-z0-9:]+$'))` },
        ],
      },
    },
  }));
  await api.createAll(policyCount, (index) => ({
    path: `${group}/validatingadmissionpolicybindings`,
    object: { metadata: { name: `bench-${index}` }, spec: { policyName: `bench-${index}` } },
  }));
}

let made = 0;

function creating({ api, pid, namespace }: Subject): PreparedSide {
  const containers = ["a", "b"].map((name) => ({ name, image: "example.com/image:1" }));
  return {
    pid,
    units: creates,
    prepare: () => Promise.resolve(),
    async run() {
      for (let count = 0; count < creates; count++) {
        const metadata = { name: `policies-${++made}` };
        await api.ask("POST", `/api/v1/namespaces/${namespace}/pods`, { metadata, spec: { containers } });
      }
    },
  };
}
