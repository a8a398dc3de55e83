/**
 * Import this module before the modules of the targets: the coverage of blocks is measured only in functions that are compiled after it
 * was started, and some are compiled while modules are loaded.
 */
import { Session } from "node:inspector";

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
