import { vi } from "vitest";

/** Counts the lookups and insertions in maps, sets and lists during `work`: a measure of time without a clock. */
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
