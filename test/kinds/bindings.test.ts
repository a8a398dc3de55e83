import { describe, expect, it } from "vitest";
import { ClusterRoleBinding, RoleBinding } from "../../src/kinds/rbac/bindings.ts";
import { judgeNew } from "./support.ts";

const roleRef = { apiGroup: "", kind: "ClusterRole", name: "view" };
const user = { kind: "User", name: "joe" };

describe.each([
  ["RoleBinding", RoleBinding],
  ["ClusterRoleBinding", ClusterRoleBinding],
])("%s", (_name, kind) => {
  it.each<[string, object, string[]]>([
    [
      "an empty kind of a subject isn't supported",
      { subjects: [{ name: "joe" }] },
      ["subjects[0].kind: FieldValueNotSupported"],
    ],
    [
      "an empty kind of a role isn't supported",
      { roleRef: { ...roleRef, kind: "" } },
      ["roleRef.kind: FieldValueNotSupported"],
    ],
    [
      "a service account's name is a DNS subdomain",
      { subjects: [user, { kind: "ServiceAccount", namespace: "n", name: "A" }] },
      ["subjects[1].name: FieldValueInvalid"],
    ],
    [
      "a service account's missing name is told of once",
      { subjects: [{ kind: "ServiceAccount", namespace: "n" }] },
      ["subjects[0].name: FieldValueRequired"],
    ],
    ["a user's name may be anything", { subjects: [{ kind: "User", name: "A/b" }] }, []],
  ])("%s", (_case, value, faults) => {
    expect(judgeNew(kind, { roleRef, ...value }).faults).toEqual(faults);
  });
});
