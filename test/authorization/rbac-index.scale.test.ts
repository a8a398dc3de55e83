import { afterEach, describe, expect, it, vi } from "vitest";
import { RbacIndex } from "../../src/authorization/rbac/rbac-index.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { ask, clusterRole, podRule, toGroup, toUser, user } from "./support.ts";
import { stepsOf } from "./steps.ts";

/** Adds the binding number `i`, and its role if each binding has its own. */
type Fill = (index: RbacIndex, i: number) => void;

const shapes: Record<string, Fill> = {
  "one group bound in many namespaces": (index, i) =>
    index.putRoleBinding(`ns-${i}`, "b", { roleRef: clusterRole("view"), subjects: [toGroup("dev")] }),
  "one group bound to many cluster roles": (index, i) => {
    index.putClusterRole(`role-${i}`, { rules: [podRule(["get"], { resourceNames: [`pod-${i}`] })] });
    index.putClusterRoleBinding(`b-${i}`, { roleRef: clusterRole(`role-${i}`), subjects: [toGroup("dev")] });
  },
  "one group bound many times to one cluster role": (index, i) =>
    index.putClusterRoleBinding(`b-${i}`, { roleRef: clusterRole("view"), subjects: [toGroup("dev")] }),
  "many users bound in one namespace": (index, i) =>
    index.putRoleBinding("ns-7", `b-${i}`, {
      roleRef: clusterRole("view"),
      subjects: [toUser(`user-${i}`), toGroup("dev")],
    }),
};

const dev = user("user-7", "system:authenticated", "dev");
const allowed = ask(dev, "get", { namespace: "ns-7", name: "pod-7" });
const refused = ask(dev, "delete", { namespace: "ns-7", name: "pod-7" });

function filled(fill: Fill, count: number): RbacIndex {
  const index = new RbacIndex(platform);
  index.putClusterRole("view", { rules: [podRule(["get"])] });
  for (let i = 0; i < count; i++) fill(index, i);
  return index;
}

afterEach(() => vi.restoreAllMocks());

describe.each(Object.entries(shapes))("%s", (_shape, fill) => {
  it("a decision takes the same steps with 10,000 bindings as with 20", () => {
    const steps = [20, 10_000].map((count) => {
      const index = filled(fill, count);
      expect(index.authorize(allowed).verdict).toBe("allow");
      expect(index.authorize(refused).verdict).toBe("noOpinion");
      return [stepsOf(() => index.authorize(allowed)), stepsOf(() => index.authorize(refused))];
    });
    expect(steps[1]).toEqual(steps[0]);
    expect(Math.max(...steps.flat())).toBeLessThan(30);
  });

  it("adding, authorizing and removing take linear steps in the number of bindings", () => {
    const steps = [500, 2000].map((count) =>
      stepsOf(() => {
        const index = new RbacIndex(platform);
        index.putClusterRole("view", { rules: [podRule(["get"])] });
        for (let i = 0; i < count; i++) {
          fill(index, i);
          index.authorize(allowed);
        }
        for (let i = 0; i < count; i++) {
          index.removeRoleBinding(`ns-${i}`, "b");
          index.removeRoleBinding("ns-7", `b-${i}`);
          index.removeClusterRoleBinding(`b-${i}`);
          index.authorize(refused);
        }
        expect(index.authorize(allowed).verdict).toBe("noOpinion");
      }),
    );
    expect(steps[1]! / steps[0]!).toBeLessThan(4.4);
  });
});

it("changing a role updates only the tables of its subjects", () => {
  const index = filled(shapes["one group bound to many cluster roles"]!, 3000);
  index.authorize(allowed);
  const other = stepsOf(() => index.putClusterRole("view", { rules: [podRule(["list"])] }));
  const bound = stepsOf(() => index.putClusterRole("role-7", { rules: [podRule(["delete"])] }));
  expect(other).toBeLessThan(10);
  expect(bound).toBeLessThan(30);
  expect(index.authorize(refused).verdict).toBe("allow");
  expect(index.authorize(allowed).verdict).toBe("noOpinion");
});
