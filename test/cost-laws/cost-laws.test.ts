import { describe, expect, it } from "vitest";
import type { AdmissionPlugin } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { effort } from "../support/effort.ts";
import { useServer } from "../support/use-server.ts";
import { accessLaws } from "./access-laws.ts";
import { customLaws } from "./custom-laws.ts";
import { growthOf, isTooFast, type Growth } from "./growth.ts";
import type { Law } from "./law.ts";
import { objectLaws } from "./object-laws.ts";

// The garbage collector would delete objects whose owners don't exist.
const server = useServer({ enabledControllers: ["*", "-garbagecollector"] });

/** In short every twelfth law: each takes seconds of processor time. */
const laws = [...objectLaws, ...accessLaws, ...customLaws].filter((_, index) => index % effort(12, 1) === 0);

/** Measures a law. @throws {Error} if a response has another status. */
function growth({ n, status, prepare }: Law, { admin }: TestServer, attempts?: number): Promise<Growth> {
  const prepareRequest = async (count: number) => {
    const request = await prepare(admin, count);
    return async () => {
      const answer = await request();
      if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`);
    };
  };
  return growthOf(n, prepareRequest, attempts);
}

describe("the processor time grows at most with n log n", () => {
  it.each(laws)("$name", { timeout: 60_000 }, async (law) => {
    const times = await growth(law, server);
    expect(isTooFast(times), `${times.map((ms) => ms.toFixed(1)).join(", ")} ms`).toBe(false);
  });

  it("is measured: a plugin that compares all pairs of finalizers is detected", async () => {
    const slow: AdmissionPlugin = {
      name: "PairsOfFinalizers",
      concerns: () => true,
      validate: ({ object }) => {
        const finalizers = object?.metadata.finalizers ?? [];
        // Without an early end, so that the pairs take most of the time also for few entries; without functions of arrays, which other
        // tests of the process can slow down.
        let repeated = 0;
        for (let one = 0; one < finalizers.length; one++)
          for (let other = 0; other < finalizers.length; other++)
            if (one !== other && finalizers[one] === finalizers[other]) repeated++;
        if (repeated > 0) throw new Error("a finalizer is repeated");
      },
    };
    const other = await TestServer.start({ admissionPlugins: [slow] });
    const law = objectLaws.find(({ name }) => name === "create finalizers")!;
    // Half of the entries suffice, and two measurements: the law itself repeats one only if it fails. Other programs can disturb one.
    let isDetected = false;
    for (let attempt = 1; attempt <= 3 && !isDetected; attempt++)
      isDetected = isTooFast(await growth({ ...law, n: law.n / 2 }, other, 2));
    expect(isDetected).toBe(true);
    await other.close();
  });
});
