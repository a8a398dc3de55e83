import { describe, expect, it } from "vitest";
import { scheduleFault, timeZoneFault } from "../../src/base/time/cron.ts";

describe("schedules", () => {
  it.each([
    "* * * * *",
    "*/5 * * * *",
    "0 0 1 1 *",
    "0,15,30-45/5 1-3 ? * *",
    "5/10 * * * *",
    "0 12 * JAN-mar Mon,fri",
    "  0   3  *  *  *  ",
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
    "@every 1h30m",
    "TZ=Europe/Berlin 0 3 * * *",
    "CRON_TZ=UTC @daily",
  ])("%j is one", (schedule) => {
    expect(scheduleFault(schedule)).toBeUndefined();
  });

  it.each([
    ["", /exactly 5 fields, found 0/],
    ["* * * *", /exactly 5 fields, found 4/],
    ["* * * * * *", /exactly 5 fields, found 6/],
    ["60 * * * *", /end of range \(60\) above maximum \(59\)/],
    ["* 24 * * *", /above maximum \(23\)/],
    ["* * 0 * *", /below minimum \(1\)/],
    ["* * 32 * *", /above maximum \(31\)/],
    ["* * * 0 *", /below minimum \(1\)/],
    ["* * * 13 *", /above maximum \(12\)/],
    ["* * * * 7", /above maximum \(6\)/],
    ["30-10 * * * *", /beyond end of range/],
    ["*/0 * * * *", /positive number/],
    ["1/2/3 * * * *", /too many slashes/],
    ["1-2-3 * * * *", /too many hyphens/],
    ["x * * * *", /parse number/],
    ["-1 * * * *", /parse number/],
    ["* * * * jan", /parse number/],
    ["*/-5 * * * *", /parse number/],
    ["@reboot", /unrecognized descriptor/],
    ["@Daily", /unrecognized descriptor/],
    ["@every soon", /failed to parse duration/],
    ["TZ=Nowhere/Else 0 3 * * *", /bad location/],
    ["TZ=UTC", /must follow the time zone/],
  ])("%j is none", (schedule, message) => {
    expect(scheduleFault(schedule)).toMatch(message);
  });

  it("is judged in time that is linear in its length", () => {
    expect(scheduleFault(`${"1,".repeat(200_000)}1 * * * *`)).toBeUndefined();
    expect(scheduleFault(`${"-".repeat(400_000)} * * * *`)).toMatch(/too many hyphens/);
  });
});

describe("time zones", () => {
  it.each(["UTC", "Europe/Berlin", "America/New_York", "Asia/Calcutta", "Etc/GMT+5"])(
    "%s is known",
    (zone) => {
      expect(timeZoneFault(zone)).toBeUndefined();
    },
  );
  it.each(["europe/berlin", "Mars/Base", "+01:00", "../etc/passwd", ""])("%j is not", (zone) => {
    expect(timeZoneFault(zone)).toBe(`unknown time zone ${zone}`);
  });
});
