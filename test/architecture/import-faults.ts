/** Holds the imports of the three packages to the table, and the table to the imports. */
import { graphCycles } from './cycles.js';
import { rowOf } from './import-table.js';
import type { ImportTable, Row } from './import-table.js';
import { importsOf, resolveImport } from './source-file.js';
import type { Import, SourceFile } from './source-file.js';

const PROGRAM = 'shared/src/program';

/** What is wrong with the imports of one file of the three packages. */
export function importFaults(file: SourceFile, table: ImportTable): string[] {
  const home = rowOf(table, file.path);
  if (home === null) return [`${file.path} is in no row: add one for its folder`];
  return importsOf(file).flatMap((one) => {
    const fault = faultOf(home, one, targetOf(table, file, one));
    return fault === null ? [] : [`${file.path} imports ${one.specifier}: ${fault}`];
  });
}

/** What is wrong with the table itself: rows and allowances that no file needs, and cycles. */
export function tableFaults(table: ImportTable, files: readonly SourceFile[]): string[] {
  const uses = usesOf(table, files);
  const rowFaults = table.rows.flatMap((row) => unneeded(row, uses.get(row.path)));
  const graph = new Map(table.rows.map(({ path, may, types }) => [path, [...may, ...types]]));
  const cycles = graphCycles(graph).map((cycle) => `rows import each other: ${cycle}`);
  return [...rowFaults, ...cycles];
}

/** The path of the row, or the name of the package, that an import leads to; null for no row. */
function targetOf(table: ImportTable, file: SourceFile, { specifier }: Import): string | null {
  if (specifier.startsWith('node:')) return 'node:';
  const path = resolveImport(file.path, specifier);
  if (path !== null) return rowOf(table, path)?.path ?? null;
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function faultOf(home: Row, one: Import, target: string | null): string | null {
  if (target === null) return 'it is in no row: add one for its folder';
  if (target === home.path || isForAll(home, one, target)) return null;
  if (needsNode(target) && !home.node) return `${home.path} does without Node ("no node:")`;
  if (home.may.has(target) || (one.typeOnly && home.types.has(target))) return null;
  return `${home.path} may not import ${target}: import what it may, or change its row`;
}

/** The rules above the table: what every row may import without saying so. */
function isForAll(home: Row, { typeOnly }: Import, target: string): boolean {
  if (needsNode(target) && !home.node) return false;
  const [workspace = ''] = home.path.split('/');
  const isShared = workspace !== 'shared' && target.startsWith('shared/src');
  const isConfigType = typeOnly && target.startsWith(`${workspace}/src/config`);
  return target === 'node:' || isShared || isConfigType;
}

function needsNode(target: string): boolean {
  return target === 'node:' || target === PROGRAM;
}

/** What the files of one row import. */
interface Uses {
  readonly values: Set<string>;
  readonly types: Set<string>;
}

/** By row; a row without a file of code is here too where something is imported from it. */
function usesOf(table: ImportTable, files: readonly SourceFile[]): Map<string, Uses> {
  const all = new Map<string, Uses>();
  for (const file of files) {
    const home = rowOf(table, file.path);
    for (const one of importsOf(file)) {
      const target = targetOf(table, file, one);
      if (target !== null) usesAt(target);
      if (home === null || target === null) continue;
      const { values, types } = usesAt(home.path);
      (one.typeOnly ? types : values).add(target);
    }
    if (home !== null) usesAt(home.path);
  }
  return all;

  function usesAt(path: string): Uses {
    const uses = all.get(path) ?? { values: new Set(), types: new Set() };
    all.set(path, uses);
    return uses;
  }
}

function unneeded({ path, may, types, node }: Row, uses: Uses | undefined): string[] {
  if (uses === undefined) return [`${path} is a row, but no such file is there: delete the row`];
  const usesNode = [...uses.values, ...uses.types].some(needsNode);
  const values = [...may].filter((name) => !uses.values.has(name));
  const onlyTypes = values.filter((name) => uses.types.has(name) && !types.has(name));
  const unused = values.filter((name) => !onlyTypes.includes(name));
  unused.push(...[...types].filter((name) => may.has(name) || !uses.types.has(name)));
  return [
    ...unused.map((name) => `${path} has no import that needs ${name}: delete it from its row`),
    ...onlyTypes.map((name) => `${path} imports types of ${name} only: write "types of ${name}"`),
    ...(node && !usesNode ? [`${path} uses no node: module: add "no node:" to its row`] : []),
  ];
}
