/** Holds the imports of a file to `import-table.ts`. */
import { TABLE } from './import-table.js';
import { importsOf, resolveImport } from './source-file.js';
import type { Import, SourceFile } from './source-file.js';

/** What is wrong with the imports of one file of the three packages. */
export function importFaults(file: SourceFile): string[] {
  const home = rowOf(file.path);
  if (home === null) return [`${file.path} is in no row of the import table`];
  return importsOf(file).flatMap((one) => {
    const fault = faultOf({ file, home, one });
    return fault === null ? [] : [`${file.path} imports ${one.specifier}: ${fault}`];
  });
}

interface Case {
  readonly file: SourceFile;
  readonly home: string;
  readonly one: Import;
}

function faultOf({ file, home, one }: Case): string | null {
  const row = TABLE[home];
  if (one.specifier.startsWith('node:')) {
    return row?.node === false ? `${home} uses no node: module` : null;
  }
  const target = resolveImport(file.path, one.specifier);
  if (target === null) return packageFault(home, one.specifier);
  const to = rowOf(target);
  if (to === null) return 'it is in no row of the import table';
  return mayImport(home, to, one) ? null : `${home} may not import ${to}`;
}

function packageFault(home: string, specifier: string): string | null {
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  return TABLE[home]?.packages?.includes(name) ? null : `"${name}" has another home than ${home}`;
}

function mayImport(home: string, to: string, one: Import): boolean {
  if (home === to || TABLE[home]?.may.includes(to)) return true;
  if (one.typeOnly && TABLE[home]?.types?.includes(to) === true) return true;
  const [package_] = home.split('/');
  const isConfigType = one.typeOnly && to === `${package_}/src/config.ts`;
  const isShared = package_ !== 'shared' && to.startsWith('shared/');
  // What both programs share as programs needs Node; the pure rules do without it.
  return (
    isConfigType || (isShared && !(to === 'shared/src/program' && TABLE[home]?.node === false))
  );
}

function rowOf(path: string): string | null {
  const below = path.replace(/^packages\//, '').replace(/config-[a-z-]+\.ts$/, 'config.ts');
  const fits = Object.keys(TABLE).filter((key) => below === key || below.startsWith(`${key}/`));
  return fits.toSorted((a, b) => b.length - a.length)[0] ?? null;
}
