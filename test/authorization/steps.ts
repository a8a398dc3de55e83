import { vi } from "vitest";

/** Lookups and insertions that `work` makes in maps, sets and lists: what its time goes with, without a clock. */
export function stepsOf(work: () => void): number {
  const spies = [
    vi.spyOn(Map.prototype, "get"),
    vi.spyOn(Map.prototype, "set"),
    vi.spyOn(Set.prototype, "has"),
    vi.spyOn(Set.prototype, "add"),
    vi.spyOn(Array.prototype, "includes"),
  ];
  work();
  const steps = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return steps;
}
