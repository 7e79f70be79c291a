/**
 * Reads the import table of ARCHITECTURE.md: one row per folder or file, with its allowed imports.
 * The text above the table describes the third column.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { property, repositoryRoot } from './source-file.js';

export interface Row {
  /** Below `packages/`: a folder or a file. */
  readonly path: string;
  /** Rows by their path and packages by their name. */
  readonly may: ReadonlySet<string>;
  /** The same, but their types only: nothing of them is left at run time. */
  readonly types: ReadonlySet<string>;
  /** False: no `node:` module, and nothing of `shared/src/program`, which needs them. */
  readonly node: boolean;
}

export interface ImportTable {
  readonly rows: readonly Row[];
  /** What could not be read, a sentence each. */
  readonly faults: readonly string[];
}

const HEADING = '## Folders, and which way imports point';
const COLUMNS = '| Folder | Holds | May import |';
const NOTHING = 'nothing more';
const NO_NODE = 'no node:';
const TYPES = 'types of ';

/** Names are relative to these. The row of such a folder has only the files directly in it. */
const ROOTS = [
  'shared/src',
  'coordinator/src',
  'coordinator/web',
  'coordinator/web/src',
  'agent/src',
];

export function readArchitecture(): string {
  return readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8');
}

export function readTable(markdown: string): ImportTable {
  const lines = tableLines(markdown);
  if (lines === null) {
    return { rows: [], faults: [`below "${HEADING}", write a table "${COLUMNS}"`] };
  }
  const faults: string[] = [];
  const cells = new Map<string, string>();
  for (const line of lines) {
    const [path, cell] = /^\| `([^`]+)` *\|[^|]+\| *([^|]*?) *\|$/.exec(line)?.slice(1) ?? [];
    if (path === undefined || cell === undefined) {
      faults.push(`"${line}" cannot be read: write "| \`path\` | what it holds | imports |"`);
    } else if (cells.has(path)) {
      faults.push(`${path} has two rows: make them one`);
    } else {
      cells.set(path, cell);
    }
  }
  const rows = [...cells].map(([path, cell]) => {
    const read = readCell(cell, (name) => resolveName(name, path, cells));
    faults.push(...read.faults.map((fault) => `${path}: ${fault}`));
    return { path, ...read.row };
  });
  return { rows, faults };
}

/** The row that has a file: the one with the longest path. */
export function rowOf(table: ImportTable, file: string): Row | null {
  const path = file.replace(/^packages\//, '');
  const rows = table.rows.filter((row) => covers(row.path, path));
  return rows.toSorted((a, b) => b.path.length - a.path.length)[0] ?? null;
}

/** The lines below the table's head; null if the section has no such table. */
function tableLines(markdown: string): string[] | null {
  const section = markdown.split(/^(?=## )/m).find((part) => part.startsWith(`${HEADING}\n`));
  const [head, , ...lines] = section?.split('\n').filter((line) => line.startsWith('|')) ?? [];
  return head?.replaceAll(/ +/g, ' ') === COLUMNS ? lines : null;
}

/** `core, store/port.ts; types of jobs; zod; no node:`: clauses of names, in any order. */
function readCell(cell: string, resolve: (name: string) => { name: string } | { fault: string }) {
  const clauses = cell === NOTHING ? [] : cell.split(/; */);
  const may = new Set<string>();
  const types = new Set<string>();
  const faults: string[] = [];
  for (const clause of clauses.filter((one) => one !== NO_NODE)) {
    const list = clause.startsWith(TYPES) ? types : may;
    const names = clause.replace(TYPES, '').split(/, */);
    for (const one of names.map(resolve)) {
      if ('fault' in one) faults.push(one.fault);
      else list.add(one.name);
    }
  }
  return { row: { may, types, node: !clauses.includes(NO_NODE) }, faults };
}

function resolveName(name: string, home: string, rows: ReadonlyMap<string, string>) {
  if (name === '') return { fault: `a name is missing: where none is needed, write "${NOTHING}"` };
  const path = [`${rootOf(home)}/${name}`, name].find((one) => rows.has(one));
  const isPackage = dependenciesOf(home).includes(name);
  if (path !== undefined && isPackage) {
    return { fault: `"${name}" is a row and a package: write the row as ${path}` };
  }
  if (path !== undefined || isPackage) return { name: path ?? name };
  return {
    fault: `"${name}" is neither a row nor a dependency of its package: correct or add it`,
  };
}

function covers(row: string, path: string): boolean {
  if (ROOTS.includes(row)) return dirname(path) === row;
  return path === row || path.startsWith(`${row}/`);
}

function rootOf(path: string): string {
  const roots = ROOTS.filter((root) => path === root || path.startsWith(`${root}/`));
  return roots.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** The names of the packages that a workspace's own `package.json` asks for. */
function dependenciesOf(home: string): string[] {
  const [workspace = ''] = home.split('/');
  const known = DEPENDENCIES.get(workspace);
  if (known !== undefined) return known;
  const file = join(repositoryRoot, 'packages', workspace, 'package.json');
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const names = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((key) =>
    Object.keys(property(manifest, key) ?? {}),
  );
  DEPENDENCIES.set(workspace, names);
  return names;
}

const DEPENDENCIES = new Map<string, string[]>();
