// Compares what the conformance suite found with what `expected.json` says that it may find.
//
//   node judge.mjs RESULTS…
//
// Each argument is the suite's output directory of one run. A failed check has to be listed, with a message like the
// one that its group gives, for the same check could also fail for another reason; and what is listed has to fail
// somewhere, so that the list tells what is.

import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

const expected = JSON.parse(readFileSync(new URL("expected.json", import.meta.url), "utf8"));
const groups = new Map(expected.flatMap((group) => group.checks.map((check) => [check, group])));
const seen = new Set();
const wrong = [];

/** The scenario that a directory of results is named for. */
function scenario(folder) {
  return folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[-\dZ]+$/, "");
}

function excused(check) {
  const group = groups.get(check.id);
  if (!group || !new RegExp(group.message).test(check.errorMessage)) {
    return false;
  }
  seen.add(check.id);
  return true;
}

for (const results of process.argv.slice(2)) {
  const whole = [];
  let [passed, failed] = [0, 0];
  for (const folder of readdirSync(results).sort()) {
    const checks = JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"));
    const failures = checks.filter(({ status }) => status === "FAILURE");
    const successes = checks.filter(({ status }) => status === "SUCCESS");
    passed += successes.length;
    failed += failures.length;
    if (failures.length === 0 && successes.length > 0) {
      whole.push(scenario(folder));
    }
    const inexcusable = failures.filter((check) => !excused(check));
    wrong.push(...inexcusable.map(({ id, errorMessage }) => `${scenario(folder)}: ${id}: ${errorMessage}`));
  }
  if (passed === 0) {
    wrong.push(`${basename(results)}: not one check has passed`);
  }
  console.log(`${basename(results)}: ${passed} checks passed, ${failed} failed; without a failure: ${whole.join(", ")}`);
}
for (const { why, checks } of expected) {
  console.log(`  ${checks.length} kinds of check cannot pass: ${why}`);
  wrong.push(...checks.filter((check) => !seen.has(check)).map((check) => `${check}: listed, but did not fail like that`));
}
for (const it of wrong) {
  console.error(`FAILED: ${it}`);
}
process.exit(wrong.length === 0 ? 0 : 1);
