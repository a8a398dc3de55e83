import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";

const day = 24 * 60 * 60 * 1000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test.each([1, 24, 25, 100])("a timer of %d days fires then, once", (days) => {
  const task = vi.fn();
  systemClock.setTimer(task, days * day);
  vi.advanceTimersByTime(days * day - 1);
  expect(task).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(task).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(200 * day);
  expect(task).toHaveBeenCalledTimes(1);
});

test.each([0, 30, 99])("a timer of 100 days can be called off after %d", (days) => {
  const task = vi.fn();
  const timer = systemClock.setTimer(task, 100 * day);
  vi.advanceTimersByTime(days * day);
  timer.cancel();
  vi.advanceTimersByTime(200 * day);
  expect(task).not.toHaveBeenCalled();
});
