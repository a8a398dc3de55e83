import type { Clock, Timer } from "../../src/base/clock.ts";
import type { UserInfo } from "../../src/base/user-info.ts";
import type { FlowRequest, WaitingClient } from "../../src/flow/request.ts";
import type { WaitMeters } from "../../src/flow/use.ts";

/** Time that only the test moves; timers fire in order while it does. */
export class TestClock implements Clock {
  private time = 0;
  private readonly timers = new Set<{ readonly at: number; readonly task: () => void }>();

  now(): number {
    return this.time;
  }

  setTimer(task: () => void, delayMs: number): Timer {
    const timer = { at: this.time + delayMs, task };
    this.timers.add(timer);
    return { cancel: () => this.timers.delete(timer) };
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const due = [...this.timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers.delete(due);
      this.time = due.at;
      due.task();
    }
    this.time = end;
  }

  get pending(): number {
    return this.timers.size;
  }
}

export const person = (name: string, ...groups: readonly string[]): UserInfo => ({
  name,
  uid: "",
  groups: [...groups, "system:authenticated"],
  extra: {},
});

export const getPods = (namespace = "default"): FlowRequest => ({
  kind: "resource",
  path: `/api/v1/namespaces/${namespace}/pods`,
  verb: "get",
  group: "",
  resource: "pods",
  subresource: "",
  namespace,
});

export const path = (at: string, verb = "get"): FlowRequest => ({ kind: "path", path: at, verb });

/** A client that stays until it is told to leave. */
export class TestClient implements WaitingClient {
  private readonly listeners: (() => void)[] = [];

  onClose(listener: () => void): void {
    this.listeners.push(listener);
  }

  leave(): void {
    for (const listener of this.listeners) listener();
  }
}

export const noMeters: WaitMeters = {
  executed: { observe: () => undefined },
  refused: { observe: () => undefined },
};
