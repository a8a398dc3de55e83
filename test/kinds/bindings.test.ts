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
      "an empty subject kind is not supported",
      { subjects: [{ name: "joe" }] },
      ["subjects[0].kind: FieldValueNotSupported"],
    ],
    [
      "an empty roleRef kind is not supported",
      { roleRef: { ...roleRef, kind: "" } },
      ["roleRef.kind: FieldValueNotSupported"],
    ],
    [
      "a service account name must be a DNS subdomain",
      { subjects: [user, { kind: "ServiceAccount", namespace: "n", name: "A" }] },
      ["subjects[1].name: FieldValueInvalid"],
    ],
    [
      "a missing service account name is reported once",
      { subjects: [{ kind: "ServiceAccount", namespace: "n" }] },
      ["subjects[0].name: FieldValueRequired"],
    ],
    ["any user name is valid", { subjects: [{ kind: "User", name: "A/b" }] }, []],
  ])("%s", (_case, value, faults) => {
    expect(judgeNew(kind, { roleRef, ...value }).faults).toEqual(faults);
  });
});
