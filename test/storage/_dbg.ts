import { systemClock } from "../../src/base/clock.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { readFileSync, writeFileSync, mkdirSync, rmSync, truncateSync } from "node:fs";
import { create } from "../../src/storage/conformance/support.ts";
rmSync("/tmp/st/f", {recursive:true,force:true}); mkdirSync("/tmp/st/f");
const which = process.argv[2];
const p=(n:string)=>"/tmp/st/f/"+n;
const s = openLmdbStore({dir:p("sound"),clock:systemClock}); await create(s,"/g/r/n/x","1"); await s.close();
const sound = readFileSync(p("sound/data.mdb")); console.log("size", sound.length);
mkdirSync(p(which!));
if (which==="foreign") writeFileSync(p("foreign/data.mdb"), Buffer.alloc(50000,"not a store "));
if (which==="cut") { writeFileSync(p("cut/data.mdb"), sound); truncateSync(p("cut/data.mdb"), 3*4096); }
if (which==="short") writeFileSync(p("short/data.mdb"), sound.subarray(0,4096));
if (which==="newer") { const state = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]); const bytes=Buffer.from(sound); let n=0;
    for (let at = bytes.indexOf(state); at >= 0; at = bytes.indexOf(state, at + 1)) {bytes[at] = 99;n++;} console.log(n); writeFileSync(p("newer/data.mdb"),bytes);}
try { openLmdbStore({dir:p(which!),clock:systemClock}); console.log("opened"); } catch(e) { console.log(String(e)); }
await new Promise(r=>setTimeout(r,100));
console.log("end");
process.exit(0);
