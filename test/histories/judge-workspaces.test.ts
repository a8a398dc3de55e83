import { describe, expect, test } from "vitest";
import type { Answer, Frame, ObservedObject, Operation, Request, Watch } from "./history.ts";
import { judge } from "./judge/judge.ts";

const key = "/configmaps/a/m";

function object(revision: number, token: string, at = key): ObservedObject {
  return { key: at, revision, uid: `uid of ${at}`, token, digest: token };
}

/** Builds a history with the object `m` outside of workspaces, at revision 2, and without workspaces; times are in milliseconds. */
class Story {
  private readonly operations: Operation[] = [];
  private readonly watches = new Map<string | undefined, Watch>();

  constructor() {
    this.event(undefined, 0, "ADDED", object(2, "t1"));
  }

  add(workspace: string | undefined, begin: number, end: number, request: Request, answer: Answer): this {
    const id = this.operations.length + 1;
    const times = { beginNs: begin * 1e6, endNs: end * 1e6 };
    this.operations.push({ id, client: `c${id}`, server: "s", workspace, request, answer, ...times });
    return this;
  }

  branch(begin: number, name: string, revision: number, from?: string): this {
    return this.add(from, begin, begin + 1, { verb: "branch", name }, { outcome: "branched", revision });
  }

  /** Writes the object `m`. */
  write(workspace: string | undefined, begin: number, revision: number, token: string): this {
    const answer = { outcome: "object", object: object(revision, token) } as const;
    return this.add(workspace, begin, begin + 1, { verb: "patch", key, token }, answer).event(
      workspace,
      begin + 1,
      "MODIFIED",
      object(revision, token),
    );
  }

  list(workspace: string | undefined, begin: number, revision: number, ...objects: ObservedObject[]): this {
    const request = { verb: "list", prefix: "/configmaps/", state: { kind: "latest" } } as const;
    const answer = { outcome: "page", revision, objects, more: false } as const;
    return this.add(workspace, begin, begin + 1, request, answer);
  }

  /** Adds an event of the watch of a workspace. */
  event(workspace: string | undefined, at: number, type: "ADDED" | "MODIFIED", value: ObservedObject): this {
    const watch = this.watches.get(workspace) ?? this.watch(workspace, 1);
    watch.frames.push({ type, object: value, atNs: at * 1e6 });
    return this;
  }

  /** Begins the watch of a workspace. */
  watch(workspace: string | undefined, after: number): Watch {
    const frames: Frame[] = [];
    const id = 1000 + this.watches.size;
    const watch = { id, client: "w", server: "s", workspace, prefix: "/", after, beginNs: 0, frames };
    this.watches.set(workspace, watch);
    return watch;
  }

  laws(): string[] {
    const create = { verb: "create", key, token: "t1" } as const;
    const created = { outcome: "object", object: object(2, "t1") } as const;
    const first = { id: 0, client: "c", server: "s", beginNs: 0, endNs: 1, request: create, answer: created };
    const violations = judge({
      initial: { revision: 1, objects: [] },
      operations: [first, ...this.operations],
      watches: [...this.watches.values()],
      terms: [],
      quotas: [],
      retentionNs: 300e9,
      decisionDelayNs: 0,
    });
    return [...new Set(violations.map(({ law }) => law))];
  }
}

/** A branch of the state at revision 3, of which the base changes later. */
function branched(): Story {
  const story = new Story().branch(1, "b", 3).write(undefined, 10, 4, "t2");
  story.watch("b", 3);
  return story;
}

describe("the judge of workspaces", () => {
  test("accepts a branch that has the values of its base at its beginning, and own ones", () => {
    const story = branched()
      .list("b", 20, 4, object(2, "t1"))
      .write("b", 30, 5, "t3")
      .list("b", 40, 5, object(5, "t3"))
      .list(undefined, 40, 5, object(4, "t2"));
    expect(story.laws()).toEqual([]);
  });

  test("reports a later write of the base that a branch shows", () => {
    expect(branched().list("b", 20, 4, object(4, "t2")).laws()).toContain("workspaces");
    const read = { outcome: "object", object: object(4, "t2") } as const;
    expect(branched().add("b", 20, 21, { verb: "get", key }, read).laws()).toContain("workspaces");
  });

  test("reports a value of the base that a branch has lost", () => {
    expect(branched().list("b", 20, 4).laws()).toEqual(["lists"]);
    const missing = { outcome: "refused", refusal: "missing", status: 404 } as const;
    expect(branched().add("b", 20, 21, { verb: "get", key }, missing).laws()).toEqual(["linearizability"]);
  });

  test("reports a write of a branch that its base shows", () => {
    const story = branched().write("b", 30, 5, "t3").list(undefined, 40, 5, object(5, "t3"));
    expect(story.laws()).toContain("effects");
  });

  test("reports an event of one workspace that a watch of another one delivers", () => {
    const story = branched().write("b", 30, 5, "t3").event(undefined, 40, "MODIFIED", object(5, "t3"));
    expect(story.laws()).toEqual(expect.arrayContaining(["effects", "workspaces"]));
  });

  test("reports a deleted object that a branch of a branch shows again", () => {
    const deletion = { outcome: "deleted", uid: `uid of ${key}` } as const;
    const story = (...objects: ObservedObject[]) => {
      const one = branched().add("b", 20, 21, { verb: "delete", key }, deletion);
      one.watch("b", 3).frames.push({ type: "DELETED", object: object(5, "t1"), atNs: 21e6 });
      one.branch(30, "c", 6, "b").watch("c", 6);
      return one.list("c", 40, 6, ...objects);
    };
    expect(story().laws()).toEqual([]);
    expect(story(object(2, "t1")).laws()).toEqual(["lists"]);
  });

  test("reports a branch of an older state than one seen before", () => {
    expect(new Story().write(undefined, 10, 4, "t2").branch(20, "b", 3).laws()).toEqual(["workspaces"]);
    expect(new Story().write(undefined, 10, 4, "t2").branch(20, "b", 5).laws()).toEqual([]);
  });
});
