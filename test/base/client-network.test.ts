import { expect, test } from "vitest";
import { clientNetwork } from "../../src/base/network/ip-address.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "20010db800010002"],
  ["2001:db8:1:2::9%eth0", "20010db800010002"],
  ["::1", "0000000000000000"],
  ["", ""],
  ["no address:", "no address:"],
])("%j belongs to %j", (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
