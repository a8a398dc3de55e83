import { auditGroups } from "./audit-rows.ts";
import { describeFlags } from "./describe-flags.ts";

describeFlags(await auditGroups());
