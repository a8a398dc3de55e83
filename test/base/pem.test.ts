import { expect, test } from "vitest";
import { certificatesIn, pemBlocks } from "../../src/base/pem.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const block = (label: string, body = "AAAA") => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

test("the blocks of a text are found in order, whatever stands between them", () => {
  const text = `subject=x\n${block("EC PARAMETERS")}\r\nand\n${block("PRIVATE KEY", "BBBB")}${block("CERTIFICATE")}`;
  expect(pemBlocks(text)).toEqual([
    { label: "EC PARAMETERS", text: block("EC PARAMETERS") },
    { label: "PRIVATE KEY", text: block("PRIVATE KEY", "BBBB") },
    { label: "CERTIFICATE", text: block("CERTIFICATE") },
  ]);
  expect(certificatesIn(text)).toEqual([block("CERTIFICATE")]);
});

test("a block without its own end is skipped", () => {
  const text = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----\n${block("CERTIFICATE", "CCCC")}`;
  expect(certificatesIn(text)).toEqual([block("CERTIFICATE", "CCCC")]);
  expect(pemBlocks("-----END CERTIFICATE----------BEGIN CERTIFICATE-----")).toEqual([]);
});

test.each(["-----BEGIN 0-----", "-----END CERTIFICATE-----BEGIN CERTIFICATE-----I", "-", "-----BEGIN "])(
  "repetitions of %j cost linear time",
  (part) => {
    const elapsedMs = cpuStopwatch();
    expect(pemBlocks(part.repeat(100_000))).toEqual([]);
    expect(elapsedMs()).toBeLessThan(2000);
  },
);
