import { expect, test } from "vitest";
import { certificatesIn, pemBlocks } from "../../src/base/certificates/pem.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const block = (label: string, body = "AAAA") => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

test("the blocks of a text are found in order, whatever stands between them", () => {
  const text = `subject=x\n${block("EC PARAMETERS")}\r\nand\n${block("PRIVATE KEY", "BB\r\nBB")}\n${block("CERTIFICATE")}`;
  const read = (label: string, body: string) => ({
    label,
    text: block(label, body),
    hasHeaders: false,
    content: Buffer.from(body, "base64"),
  });
  expect(pemBlocks(text)).toEqual([
    read("EC PARAMETERS", "AAAA"),
    read("PRIVATE KEY", "BB\r\nBB"),
    read("CERTIFICATE", "AAAA"),
  ]);
  expect(certificatesIn(text)).toEqual([block("CERTIFICATE")]);
});

test("a block without its own end is skipped", () => {
  const text = `-----BEGIN CERTIFICATE-----\nAAAA\n-----END PRIVATE KEY-----\n${block("CERTIFICATE", "CCCC")}`;
  expect(certificatesIn(text)).toEqual([block("CERTIFICATE", "CCCC")]);
  expect(pemBlocks("-----END CERTIFICATE----------BEGIN CERTIFICATE-----")).toEqual([]);
});

test("a boundary begins a line and has nothing behind it", () => {
  expect(pemBlocks(`  ${block("CERTIFICATE")}`)).toEqual([]);
  expect(pemBlocks(`${block("CERTIFICATE")}x`)).toEqual([]);
  expect(pemBlocks(block("CERTIFICATE").replace("CERTIFICATE-----", "CERTIFICATE12345"))).toEqual([]);
  expect(pemBlocks(`${block("CERTIFICATE")} \t\r\n`)).toHaveLength(1);
});

test("header lines are no part of the content", () => {
  const [found] = pemBlocks(block("CERTIFICATE", "Proc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nAAAA"));
  expect(found).toMatchObject({ hasHeaders: true, content: Buffer.alloc(3) });
});

test.each(["AAA", "AA=A", "A===", "AAAA!", "AA\u00a0AA"])("%j is no Base64", (body) => {
  expect(pemBlocks(block("CERTIFICATE", body))).toMatchObject([{ content: undefined }]);
});

test.each([
  "-----BEGIN A-----\n",
  "-----BEGIN A-----\na: b\n",
  "-----BEGIN A-----\n-----END B-----\n",
  "-----BEGIN 0-----",
  "-----END CERTIFICATE-----BEGIN CERTIFICATE-----I",
  "-",
  "-----BEGIN ",
])("repetitions of %j cost linear time", (part) => {
  const elapsedMs = cpuStopwatch();
  expect(pemBlocks(part.repeat(100_000))).toEqual([]);
  expect(elapsedMs()).toBeLessThan(2000);
});

test.each([
  [
    "header lines that are begin boundaries too",
    `${"-----BEGIN a:-----\n".repeat(100_000)}x\n-----END b-----\n`,
  ],
  ["a long end boundary", `${"-----BEGIN a-----\n".repeat(50_000)}-----END b-----${" ".repeat(500_000)}\n`],
])("%s cost linear time", (_what, text) => {
  const elapsedMs = cpuStopwatch();
  expect(pemBlocks(text)).toEqual([]);
  expect(elapsedMs()).toBeLessThan(2000);
});

test("a block after header lines with begin boundaries is found", () => {
  const text = `-----BEGIN a:-----\n-----BEGIN b-----\na: b\n${block("CERTIFICATE", "AAAA")}`;
  expect(pemBlocks(text).map(({ label }) => label)).toEqual(["CERTIFICATE"]);
});
