/**
 * The repository's own source as data: each file with its text, its syntax tree and its imports.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

export const repositoryRoot = normalize(join(dirname(fileURLToPath(import.meta.url)), '..', '..'));
const PRODUCT = ['shared/src', 'coordinator/src', 'coordinator/web', 'agent/src'];
const AROUND = ['test', 'bench', 'scripts', 'packaging'].concat(
  ['agent', 'coordinator'].map((name) => `packages/${name}/bin`),
);

/** A syntax tree node; its other properties are read through `children` and `property`. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

export interface SourceFile {
  /** From the repository's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: Node;
}

export interface Import {
  readonly specifier: string;
  /** True if nothing is left of it at run time. */
  readonly typeOnly: boolean;
}

/** Every file of the three packages. */
export function productFiles(): SourceFile[] {
  return PRODUCT.flatMap((folder) => readFolder(`packages/${folder}`));
}

/** Those and the code around them: tests, bench, scripts, packaging. */
export function allFiles(): SourceFile[] {
  return [...productFiles(), ...AROUND.flatMap(readFolder)];
}

export function parse(path: string, text: string): SourceFile {
  const lang = path.endsWith('.tsx') ? 'tsx' : 'ts';
  return { path, text, tree: parseAst(text.replace(/^#!.*/, ''), { lang }) };
}

/** The imports and re-exports of a file, `import()` of a literal included. */
export function importsOf(file: SourceFile): readonly Import[] {
  const known = IMPORTS.get(file);
  if (known !== undefined) return known;
  const found: Import[] = [];
  walk(file.tree, (node) => {
    const specifier = MODULE_NODES.has(node.type) && property(property(node, 'source'), 'value');
    if (typeof specifier === 'string') found.push({ specifier, typeOnly: isTypeOnly(node) });
  });
  IMPORTS.set(file, found);
  return found;
}

/** Several tests ask for the imports of the same files. */
const IMPORTS = new WeakMap<SourceFile, Import[]>();

const MODULE_NODES = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
]);

function isTypeOnly(node: Node): boolean {
  return property(node, 'importKind') === 'type' || property(node, 'exportKind') === 'type';
}

/**
 * The path of the file that an import names, or null if it names a package or `node:` module.
 * `@inference-gateway/shared/errors` is `packages/shared/src/errors.ts`.
 */
export function resolveImport(from: string, specifier: string): string | null {
  const workspace = /^@inference-gateway\/([^/]+)\/(.+)$/.exec(specifier);
  if (workspace !== null) return `packages/${workspace[1]}/src/${workspace[2]}.ts`;
  if (!specifier.startsWith('.')) return null;
  const path = normalize(join(dirname(from), specifier));
  return path.replaceAll(sep, '/').replace(/\.js$/, '.ts');
}

/** Visits every node, parents first; `ancestors` are outermost first. */
export function walk(
  node: Node,
  visit: (node: Node, ancestors: readonly Node[]) => void,
  ancestors: readonly Node[] = [],
): void {
  visit(node, ancestors);
  const below = [...ancestors, node];
  for (const child of children(node)) walk(child, visit, below);
}

export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

export function lineOf(file: SourceFile, offset: number): number {
  return file.text.slice(0, offset).split('\n').length;
}

function children(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

function isNode(value: unknown): value is Node {
  return (
    typeof property(value, 'type') === 'string' && typeof property(value, 'start') === 'number'
  );
}

function readFolder(folder: string): SourceFile[] {
  const path = join(repositoryRoot, folder);
  if (!existsSync(path)) return [];
  return sourcePaths(path).map((one) => parse(toRepositoryPath(one), readFileSync(one, 'utf8')));
}

function sourcePaths(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return /\.(ts|tsx|js)$/.test(entry.name) ? [path] : [];
    return entry.name === 'dist' || entry.name === 'node_modules' ? [] : sourcePaths(path);
  });
}

function toRepositoryPath(path: string): string {
  return relative(repositoryRoot, path).replaceAll(sep, '/');
}
