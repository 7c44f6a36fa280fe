// Runs every test of the page's pure parts and leaves the report for whoever started it.

import { type Report, runAll } from "./check.ts";
import "./diff.test.ts";
import "./live.test.ts";
import "./markdown-blocks.test.ts";
import "./route.test.ts";
import "./sse.test.ts";
import "./terminal.test.ts";
import "./timeline.test.ts";
import "./words.test.ts";

declare global {
  var report: Promise<Report> | undefined;
}

globalThis.report = runAll();
