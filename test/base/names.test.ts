import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as names from "../../src/base/names.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const long = (length: number) => "a".repeat(length);

interface Case {
  readonly form: (name: string) => readonly string[];
  readonly right: readonly string[];
  readonly wrong: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  "DNS-1123 label": {
    form: names.dnsLabelFaults,
    right: ["a", "0", "a-b", "123-abc", long(63)],
    wrong: ["", "A", "-a", "a-", "a.b", "a_b", "ä", "a\n", long(64)],
  },
  "DNS-1123 subdomain": {
    form: names.dnsSubdomainFaults,
    right: ["a", "a.b", "1.2.3", "a-b.c-d", long(253)],
    wrong: ["", ".", "a.", ".a", "a..b", "A.b", "a.-b", "a b", long(254)],
  },
  "DNS-1035 label": {
    form: names.dns1035LabelFaults,
    right: ["a", "abc-123"],
    wrong: ["", "1a", "a-", "A", long(64)],
  },
  "wildcard subdomain": {
    form: names.wildcardSubdomainFaults,
    right: ["*.a", "*.example.com"],
    wrong: ["*", "a", "*a.b", "*.*.a", "a.*"],
  },
  "qualified name": {
    form: names.qualifiedNameFaults,
    right: ["a", "A_b.c-d", "example.com/MyName", "a.b/1", `${long(253)}/${long(63)}`],
    wrong: [
      "",
      "/",
      "a/",
      "/a",
      "a/b/c",
      "A.com/a",
      "-a",
      "a-",
      "a b",
      "ä",
      `a/${long(64)}`,
      `${long(254)}/a`,
    ],
  },
  "label value": {
    form: names.labelValueFaults,
    right: ["", "a", "A_b.c-d", "1", long(63)],
    wrong: ["-a", "a-", ".a", "a b", "a/b", "a\n", long(64)],
  },
  "path segment": {
    form: names.pathSegmentFaults,
    right: ["a", "system:masters", "A b", "...", long(1000)],
    wrong: [".", "..", "a/b", "100%"],
  },
  "path segment as a name": {
    form: names.pathSegmentNameFaults,
    right: ["a", "system:masters", "A b"],
    wrong: ["..", "a/b", "a\0", "a\u0001", "a\u0002b"],
  },
  "data key": {
    form: names.configMapKeyFaults,
    right: ["a", ".a", "a..b", "KEY_NAME", "key.name", long(253)],
    wrong: ["", ".", "..", "..a", "a/b", "a b", long(254)],
  },
};

describe.each(Object.entries(cases))("%s", (_name, { form, right, wrong }) => {
  it.each(right)("accepts %j", (name) => expect(form(name)).toEqual([]));
  it.each(wrong)("refuses %j", (name) => expect(form(name)).not.toEqual([]));
});

describe("messages", () => {
  it("show the expression", () => {
    expect(names.dnsLabelFaults("A")[0]).toContain("'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
    expect(names.dnsSubdomainFaults("A")[0]).toContain(
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
    expect(names.qualifiedNameFaults("-")[0]).toContain("'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
    expect(names.labelValueFaults("-")[0]).toContain("'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    expect(names.configMapKeyFaults("/")[0]).toContain("'[-._a-zA-Z0-9]+')");
  });

  it("give a length rather than an expression", () => {
    expect(names.dnsLabelFaults(long(64))).toEqual(["must be no more than 63 characters"]);
  });

  it("takes no long time over hostile names", () => {
    const usedMs = cpuStopwatch();
    for (const { form } of Object.values(cases)) form(`${"a-".repeat(1_000_000)}!`);
    expect(usedMs()).toBeLessThan(500);
  });
});

describe("makeName", () => {
  it("C-2.2-01 appends five letters of the alphabet, and cuts the prefix to 58 characters", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.infiniteStream(fc.nat()), (prefix, stream) => {
        const name = names.makeName(prefix, (below) => (stream.next().value as number) % below);
        expect(name.slice(0, -5)).toBe(prefix.slice(0, 58));
        expect(name.slice(-5)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      }),
    );
  });

  it("makes right names of right prefixes", () => {
    expect(names.makeName("web-", () => 0)).toBe("web-bbbbb");
    expect(names.dnsSubdomainFaults(names.makeName("a".repeat(100), (below) => below - 1))).toEqual([]);
  });
});
