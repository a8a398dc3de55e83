import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { cpuStopwatch } from "../../support/cpu-time.ts";
import {
  evaluateExistingPods,
  type PodsResult,
} from "../../../src/admission/plugins/pod-security/namespace-check.ts";
import type { Template } from "../../../src/admission/plugins/pod-security/pod-templates.ts";
import type { Entry, RangeOptions, Store } from "../../../src/storage/store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { restrictedSpec } from "./support.ts";

/** A Pod: the uid of its controller, and its violation. */
interface TestPod {
  readonly controller?: string;
  readonly violates?: string;
  readonly exempt?: boolean;
}

const perPage = 100;

/** Returns a store with these Pods, named `pod-00000` and so on. */
function storeOf(pods: readonly TestPod[], pageRead: () => void = () => undefined): Store {
  const entries = pods.map(({ controller, violates = "", exempt }, index) => {
    const name = `pod-${String(index).padStart(5, "0")}`;
    const ownerReferences =
      controller === undefined ? [] : [{ uid: "other" }, { uid: controller, controller: true }];
    const annotations = { violates, ...(exempt && { exempt: "true" }) };
    const metadata = { resourceVersion: "7", name, annotations, ownerReferences };
    const body = Buffer.from(JSON.stringify({ kind: "Pod", metadata, spec: restrictedSpec() }));
    const header = Buffer.from(JSON.stringify(["uid", {}, {}, []]));
    return { key: `/pods/ns/${name}`, revision: 7, header, body, revisionAt: 0 } as unknown as Entry;
  });
  const store: Pick<Store, "range" | "count"> = {
    range({ prefix, after = "" }: RangeOptions) {
      pageRead();
      const left = entries.filter(({ key }) => key.startsWith(prefix) && key > after);
      return { entries: left.slice(0, perPage), more: left.length > perPage, revision: 7 as never };
    },
    count: () => entries.length,
  };
  return store as Store;
}

function evaluated(store: Store, clock = new ManualClock()): Promise<PodsResult> {
  return evaluateExistingPods({
    store,
    clock,
    prefix: "/pods/ns/",
    evaluate({ metadata }: Template) {
      const { violates = "", exempt } = metadata!.annotations!;
      if (exempt !== undefined) return undefined;
      return violates === "" ? [] : [{ reason: violates, detail: "" }];
    },
  });
}

const times = (count: number, pod: TestPod): TestPod[] => Array.from({ length: count }, () => pod);

describe("evaluation of existing Pods", () => {
  test("pods with the same violations are grouped under the first name, in order", async () => {
    const pods = [
      { violates: "privileged" },
      {},
      { violates: "hostPort" },
      { violates: "privileged" },
      { violates: "hostPort" },
      { violates: "hostPort" },
      { violates: "a, b" },
      { violates: "unknown", exempt: true },
    ];
    expect(await evaluated(storeOf(pods))).toEqual({
      checked: 7,
      total: 7,
      violations: [
        "pod-00000 (and 1 other pod): privileged",
        "pod-00002 (and 2 other pods): hostPort",
        "pod-00006: a, b",
      ],
    });
  });

  test("all pages are read, and an empty namespace has no violations", async () => {
    const pods = [...times(2 * perPage, {}), { violates: "hostPort" }];
    expect(await evaluated(storeOf(pods))).toEqual({
      checked: 201,
      total: 201,
      violations: ["pod-00200: hostPort"],
    });
    expect(await evaluated(storeOf([]))).toEqual({ checked: 0, total: 0, violations: [] });
  });

  test("at most 3,000 pods are evaluated", async () => {
    const pods = [{ exempt: true }, ...times(3000, {}), ...times(7, { violates: "hostPort" })];
    expect(await evaluated(storeOf(pods))).toEqual({ checked: 3000, total: 3007, violations: [] });
    expect(await evaluated(storeOf(times(3000, {})))).toMatchObject({ checked: 3000, total: 3000 });
  });

  test("the first pod of each controller is evaluated before its other pods", async () => {
    const pods = [
      ...times(3500, { controller: "large", violates: "hostPort" }),
      { controller: "small", violates: "privileged" },
      { violates: "hostProcess" },
    ];
    expect(await evaluated(storeOf(pods))).toEqual({
      checked: 3000,
      total: 3502,
      violations: [
        "pod-00000 (and 2997 other pods): hostPort",
        "pod-03500: privileged",
        "pod-03501: hostProcess",
      ],
    });
  });

  test("the evaluation stops after one second", async () => {
    const clock = new ManualClock();
    const start = clock.now();
    let pages = 0;
    const store = storeOf([...times(10 * perPage, {}), { violates: "hostPort" }], () => {
      if (++pages === 3) void clock.advance(1000);
    });
    expect(await evaluated(store, clock)).toEqual({ checked: 201, total: 1001, violations: [] });
    expect([pages, clock.now() - start]).toEqual([3, 1000]);
  });

  test("the evaluation yields to other work", async () => {
    let turns = 0;
    let done = false;
    const counting = (async () => {
      while (!done) {
        await setImmediate();
        turns++;
      }
    })();
    // Processor time, because other programs interrupt turns.
    const usedMs = cpuStopwatch();
    await evaluated(storeOf(times(3000, {})));
    const tookMs = usedMs();
    done = true;
    await counting;
    // At least one turn of the event loop per 25 ms; without yielding there would be none.
    expect(turns).toBeGreaterThan(Math.floor(tookMs / 25));
    expect(turns).toBeGreaterThan(1);
  });
});
