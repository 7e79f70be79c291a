/** Import cycles, types included: two files that need each other are one file, or want a third. */
import { importsOf, resolveImport } from './source-file.js';
import type { SourceFile } from './source-file.js';

/** Each cycle once, as `a.ts → b.ts → a.ts`. */
export function importCycles(files: readonly SourceFile[]): string[] {
  // An import names `x.js`, whether it is made of `x.ts` or `x.tsx`.
  return graphCycles(new Map(files.map((file) => [file.path.replace(/x$/, ''), targetsOf(file)])));
}

/** The same of any graph, given as what each node leads to. */
export function graphCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const cycles: string[] = [];
  for (const start of graph.keys()) visit(start, []);
  return cycles;

  function visit(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    if (finished.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    finished.add(path);
  }
}

function targetsOf(file: SourceFile): string[] {
  return importsOf(file).flatMap(({ specifier }) => resolveImport(file.path, specifier) ?? []);
}
