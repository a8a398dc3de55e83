import * as fc from "fast-check";
import { expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { explainRbac } from "../../src/authorization/insight/explain.ts";
import type { AllowedSubject, ShownSubject } from "../../src/authorization/insight/insight.ts";
import { gatheredSubjects, whoCan } from "../../src/authorization/insight/stored-insight.ts";
import type { RoleObject } from "../../src/authorization/rbac/policy.ts";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { apply, ReferenceRbac, question, step } from "./policy-arbitrary.ts";

const steps = fc.array(step, { maxLength: 60, size: "max" });
const atOnce = () => undefined;

/** All subjects that the generated bindings can name, with the user name and groups that match each. */
const everybody: readonly {
  readonly shown: ShownSubject;
  readonly name: string;
  readonly groups: string[];
}[] = [
  { shown: { kind: "Group", name: "g1" }, name: "", groups: ["g1"] },
  { shown: { kind: "Group", name: "u1" }, name: "", groups: ["u1"] },
  {
    shown: { kind: "ServiceAccount", namespace: "a", name: "sa" },
    name: "system:serviceaccount:a:sa",
    groups: [],
  },
  {
    shown: { kind: "ServiceAccount", namespace: "b", name: "sa" },
    name: "system:serviceaccount:b:sa",
    groups: [],
  },
  { shown: { kind: "User", name: "u1" }, name: "u1", groups: [] },
  { shown: { kind: "User", name: "u2" }, name: "u2", groups: [] },
];

const withoutGrants = ({ kind, namespace, name }: AllowedSubject): ShownSubject =>
  namespace === undefined ? { kind, name } : { kind, namespace, name };

it("an explanation agrees with the authorizer, and each grant and near miss refers to a stored role rule", async () => {
  const property = fc.asyncProperty(
    steps,
    fc.array(question, { minLength: 1, maxLength: 6 }),
    async (done, all) => {
      const index = new RbacIndex(platform);
      const reference = new ReferenceRbac();
      for (const one of done) apply(index, reference, one);
      for (const asked of all) {
        const { verdict, evaluationError } = index.authorize(asked);
        const explanation = await explainRbac(index, platform, asked, atOnce);
        expect(explanation.grants.length > 0).toBe(verdict === "allow");
        expect(explanation.faults.length > 0).toBe(evaluationError !== "");
        expect(verdict === "allow" ? explanation.nearMisses : []).toEqual([]);
        for (const { binding, role, rule, ruleIndex } of [...explanation.grants, ...explanation.nearMisses]) {
          const known = reference.bindings.get(`${binding.namespace ?? ""}/${binding.name}`)!;
          expect(known.object.roleRef).toMatchObject({ kind: role.kind, name: role.name });
          expect(reference.roles.get(`${role.namespace ?? ""}/${role.name}`)![ruleIndex]!.verbs).toEqual(
            rule.verbs,
          );
        }
        // The rule lacks the `missing` values and only those: with them added, it allows the request.
        for (const { rule, missing } of explanation.nearMisses) {
          expect(missing.length).toBeGreaterThan(0);
          const { entriesLeftOut: _none, ...lists } = rule;
          const whole: Record<string, readonly string[] | undefined> = lists;
          const fields = {
            verb: "verbs",
            apiGroup: "apiGroups",
            resource: "resources",
            resourceName: "resourceNames",
          };
          for (const { part, wanted } of missing) {
            if (part === "namespace") continue;
            const field = part === "nonResourceURL" ? "nonResourceURLs" : fields[part];
            expect(whole[field]).not.toContain(wanted);
            whole[field] = [...(whole[field] ?? []), wanted];
          }
          const wider = new RbacIndex(platform);
          wider.putClusterRole("wider", {
            rules: [whole as unknown as NonNullable<RoleObject["rules"]>[number]],
          });
          const subjects = [{ kind: "User", name: asked.user.name }];
          wider.putClusterRoleBinding("wider", { roleRef: { kind: "ClusterRole", name: "wider" }, subjects });
          expect(wider.authorize(asked).verdict).toBe("allow");
        }
      }
    },
  );
  await fc.assert(property, { numRuns: effort(60, 150) });
});

it("whoCan lists exactly the allowed subjects in order, also in pages of one", async () => {
  const run = fc.tuple(steps, steps, fc.array(question, { minLength: 1, maxLength: 5 }));
  const property = fc.asyncProperty(
    run,
    fc.constantFrom(0, gatheredSubjects),
    async ([before, later, all], few) => {
      const index = new RbacIndex(platform);
      const reference = new ReferenceRbac();
      // The first questions build tables, which the later changes must update.
      for (const done of [before, later]) {
        for (const one of done) apply(index, reference, one);
        for (const { user: _user, ...action } of all) {
          const wanted = everybody.filter(
            ({ name, groups }) =>
              reference.decide({
                ...action,
                user: { name, uid: "", groups, extra: {} },
              } as (typeof all)[number]).allowed,
          );
          const page = { limit: 100, after: undefined };
          const { subjects, more } = await whoCan(index, platform, action, page, atOnce, few);
          expect(subjects.map(withoutGrants)).toEqual(wanted.map(({ shown }) => shown));
          expect(more).toBe(false);
          for (const { grants } of subjects) expect(grants.length).toBeGreaterThan(0);
          const paged: ShownSubject[] = [];
          for (let after: ShownSubject | undefined; ; after = paged.at(-1)) {
            const one = await whoCan(index, platform, action, { limit: 1, after }, atOnce, few);
            paged.push(...one.subjects.map(withoutGrants));
            if (!one.more) break;
          }
          expect(paged).toEqual(wanted.map(({ shown }) => shown));
        }
      }
    },
  );
  await fc.assert(property, { numRuns: effort(60, 150) });
});
