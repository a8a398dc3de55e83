import { describe, expect, test } from "vitest";
import type { Answer, Frame, History, ObservedObject, Operation, Request } from "./history.ts";
import { judge } from "./judge/judge.ts";

const key = "/configmaps/a/m";
const binding = "/rolebindings/a/user";

function object(revision: number, token: string, uid = "u1", at = key): ObservedObject {
  return { key: at, revision, uid, token, digest: token };
}

/** Builds a history; times are in milliseconds. */
class Story {
  private readonly operations: Operation[] = [];
  private readonly frames: Frame[] = [];

  /** Adds an operation; without an end it has no answer. */
  add(begin: number, end: number | undefined, request: Request, answer?: Answer): this {
    const id = this.operations.length + 1;
    const ended = end === undefined ? {} : { endNs: end * 1e6, answer };
    this.operations.push({ id, client: `c${id}`, server: "s", beginNs: begin * 1e6, request, ...ended });
    return this;
  }

  /** Adds an event of the watch. */
  event(at: number, type: "ADDED" | "MODIFIED" | "DELETED", value: ObservedObject): this {
    this.frames.push({ type, object: value, atNs: at * 1e6 });
    return this;
  }

  laws(settings: Partial<History> = {}): string[] {
    const watch = { id: 0, client: "w", server: "s", prefix: "/", after: 1, beginNs: 0, frames: this.frames };
    return judge({
      initial: { revision: 1, objects: [] },
      operations: this.operations,
      watches: [watch],
      terms: [],
      quotas: [],
      retentionNs: 300e9,
      decisionDelayNs: 0,
      ...settings,
    }).map(({ law }) => law);
  }
}

describe("the judge", () => {
  test("accepts a write without an answer that takes effect after the client gave it up", () => {
    const story = new Story()
      .add(0, undefined, { verb: "create", key, token: "t1" })
      .add(10, 11, { verb: "get", key }, { outcome: "refused", refusal: "missing", status: 404 })
      .add(20, 30, { verb: "update", key, token: "t2" }, { outcome: "object", object: object(3, "t2") })
      .event(21, "ADDED", object(2, "t1"))
      .event(31, "MODIFIED", object(3, "t2"));
    expect(story.laws()).toEqual([]);
  });

  test("reports a write without an answer that was seen and is missing later", () => {
    const story = new Story()
      .add(0, undefined, { verb: "create", key, token: "t1" })
      .event(5, "ADDED", object(2, "t1"))
      .add(10, 11, { verb: "get", key }, { outcome: "refused", refusal: "missing", status: 404 });
    expect(story.laws()).toEqual(["linearizability"]);
  });

  test("accepts a delete without an answer that a watch delivers, and reports one that was not requested", () => {
    const story = (verb: "delete" | "get") =>
      new Story()
        .add(0, 1, { verb: "create", key, token: "t1" }, { outcome: "object", object: object(2, "t1") })
        .add(2, undefined, { verb, key })
        .event(2, "ADDED", object(2, "t1"))
        .event(8, "DELETED", object(3, "t1"))
        .add(9, 10, { verb: "get", key }, { outcome: "refused", refusal: "missing", status: 404 });
    expect(story("delete").laws()).toEqual([]);
    expect(story("get").laws()).toContain("effects");
  });

  test("accepts an outdated decision only within the delay of the history", () => {
    const story = new Story()
      .add(
        0,
        1,
        { verb: "create", key: binding, token: "t1" },
        { outcome: "object", object: object(2, "t1", "u1", binding) },
      )
      .event(1, "ADDED", object(2, "t1", "u1", binding))
      .add(10, 11, { verb: "delete", key: binding }, { outcome: "deleted", uid: "u1" })
      .event(11, "DELETED", object(3, "t1", "u1", binding))
      .add(15, 16, { verb: "review", key: binding }, { outcome: "decision", allowed: true });
    expect(story.laws()).toEqual(["decisions"]);
    expect(story.laws({ decisionDelayNs: 3e6 })).toEqual(["decisions"]);
    expect(story.laws({ decisionDelayNs: 5e6 })).toEqual([]);
  });

  test("reports a history whose watches don't cover its writes", () => {
    const story = new Story().add(
      0,
      1,
      { verb: "create", key, token: "t1" },
      { outcome: "object", object: object(2, "t1") },
    );
    expect(story.laws()).toEqual(["coverage"]);
  });

  test("reports an object that is added although the one before wasn't deleted, unless no watch covers its deletion", () => {
    const created: Answer = { outcome: "object", object: object(2, "t1") };
    const story = new Story()
      .add(0, 1, { verb: "create", key, token: "t1" }, created)
      .add(2, 3, { verb: "delete", key }, { outcome: "deleted", uid: "u1" })
      .add(4, undefined, { verb: "create", key, token: "t2" });
    const added: Frame = { type: "ADDED", object: object(4, "t2", "u2"), atNs: 6e6 };
    const watching = (after: number, frames: Frame[]) => ({
      watches: [{ id: 0, client: "w", server: "s", prefix: "/", after, beginNs: 0, frames }],
    });
    const first: Frame = { type: "ADDED", object: object(2, "t1"), atNs: 2e6 };
    expect(story.laws(watching(1, [first, added]))).toContain("watches");
    expect(story.laws(watching(3, [added]))).toEqual(["coverage"]);
    expect(story.laws(watching(3, [{ ...added, type: "MODIFIED" }]))).toContain("watches");
  });

  test("reports terms of two leaders that overlap, and no others", () => {
    const term = (holder: string, begin: number, end: number) => ({
      lease: "l",
      holder,
      beginNs: begin * 1e6,
      endNs: end * 1e6,
    });
    const laws = (...terms: ReturnType<typeof term>[]) => new Story().laws({ terms });
    expect(laws(term("a", 0, 10), term("b", 10, 20), term("b", 15, 30))).toEqual([]);
    expect(laws(term("a", 0, 10), term("a", 2, 5), term("b", 7, 20))).toEqual(["leaders"]);
  });

  test("judges eight times as many operations in less than 24 times the processor time", () => {
    // Warms the compiler up.
    judgeMs(2000);
    const small = judgeMs(2000);
    expect(judgeMs(16_000)).toBeLessThan(24 * Math.max(small, 5));
  });
});

/** Processor time to judge a history of this many updates, of which 100 always run at the same time, in milliseconds. */
function judgeMs(updates: number): number {
  const story = new Story();
  const at = (n: number) => `${key}-${n % 8}`;
  for (let n = 0; n < updates; n++) {
    const value = object(n + 2, `t${n}`, `uid of ${at(n)}`, at(n));
    const verb = n < 8 ? "create" : "update";
    const answer: Answer = { outcome: "object", object: value };
    story.add(n, n + 100, { verb, key: at(n), token: `t${n}` }, answer);
    story.event(n + 101, n < 8 ? "ADDED" : "MODIFIED", value);
  }
  const begin = process.cpuUsage();
  expect(story.laws()).toEqual([]);
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1000;
}
