import { expect, it } from "vitest";
import { plainReason } from "../../src/storage/etcd/plain-words.ts";

it.each([
  [
    "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ",
    "nothing listens there; check --etcd-servers, and whether etcd runs (connect ECONNREFUSED 127.0.0.1:1)",
  ],
  [
    "Name resolution failed for target dns:no-such-host.invalid:2379",
    "the host name can't be resolved; check --etcd-servers (Name resolution failed for target dns:no-such-host.invalid:2379)",
  ],
  [
    "No connection established. Last error: Protocol error (2026-11-29T18:58:49.796Z). Resolution note: ",
    "the server there closes the connection or isn't etcd; if it speaks TLS, use https:// in --etcd-servers (Protocol error)",
  ],
  [
    "No connection established. Last error: Error: 804C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:a.c:350:\n. Resolution note: ",
    "the server there speaks no TLS; use http:// in --etcd-servers if it is etcd (804C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:a.c:350:)",
  ],
  [
    "No connection established. Last error: Error: unable to verify the first certificate. Resolution note: ",
    "its certificate is not signed by a trusted CA; name the CA with --etcd-cafile (unable to verify the first certificate)",
  ],
  ["etcdserver: too many requests", "etcdserver: too many requests"],
])("the reason %j of a failed request to etcd is shown in plain words", (details, expected) => {
  expect(plainReason(details)).toBe(expected);
});
