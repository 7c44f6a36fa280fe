// A test runner of one page: collects, runs, says what failed. It runs wherever
// JavaScript does, so that a machine needs nothing but the browser to test.

interface Case {
  name: string;
  run(): void | Promise<void>;
}

const cases: Case[] = [];

export function test(name: string, run: () => void | Promise<void>): void {
  cases.push({ name, run });
}

/** Compares by value; says both when they differ. */
export function equal(got: unknown, want: unknown, what = "value"): void {
  const g = show(got);
  const w = show(want);
  if (g !== w) throw new Error(`${what}:\n  got  ${g}\n  want ${w}`);
}

export function ok(value: boolean, what: string): void {
  if (!value) throw new Error(`not so: ${what}`);
}

function show(value: unknown): string {
  return (
    JSON.stringify(value, (_, v: unknown) => {
      if (v instanceof Map) return { map: [...v] };
      if (typeof v === "object" && v !== null && !Array.isArray(v)) {
        return Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)));
      }
      return v;
    }) ?? "undefined"
  );
}

export interface Report {
  passed: number;
  failed: { name: string; error: string }[];
}

export async function runAll(): Promise<Report> {
  const report: Report = { passed: 0, failed: [] };
  for (const { name, run } of cases) {
    try {
      await run();
      report.passed++;
    } catch (err) {
      report.failed.push({ name, error: err instanceof Error ? `${err.message}` : String(err) });
    }
  }
  return report;
}

/** The same numbers at each run. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Cuts text at chosen places, in pieces of 0 to `most` units. */
export function pieces(text: string, most: number, next: (below: number) => number): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    const n = next(most + 1);
    out.push(text.slice(at, at + n));
    at += n;
  }
  return out;
}
