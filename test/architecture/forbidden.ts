/** What the code does without: each rule names the node that breaks it. */
import { lineOf, property, walk } from './source-file.js';
import type { Node, SourceFile } from './source-file.js';

/** A rule that one node can break; `only` and `except` are tested against the file's path. */
interface Rule {
  readonly says: string;
  readonly breaks: (node: Node) => boolean;
  readonly only?: RegExp;
  readonly except?: RegExp;
}

const PRODUCT = /^packages\//;
const CORE = /^packages\/coordinator\/src\/core\//;
/** Parts of a running program, which get their clock where it is assembled. */
const CLOCK_INJECTED = new RegExp(
  '^packages/(agent/src/(link|work)|coordinator/src/' +
    '(accounts|assets|http|jobs|links|operations|relay|run|store/sqlite))/',
);
/** Tools require these names and a default export. */
const CONFIG = /\.config\.(js|ts)$/;

const RULES: readonly Rule[] = [
  { says: 'uses any', breaks: ({ type }) => type === 'TSAnyKeyword' },
  { says: 'declares an enum', breaks: ({ type }) => type === 'TSEnumDeclaration' },
  { says: 'declares a namespace', breaks: ({ type }) => type === 'TSModuleDeclaration' },
  { says: 'asserts with !', breaks: ({ type }) => type === 'TSNonNullExpression' },
  {
    says: 'exports a default',
    breaks: ({ type }) => type === 'ExportDefaultDeclaration',
    except: CONFIG,
  },
  {
    says: 'reads the environment outside config',
    breaks: (node) => isMember(node, 'process', 'env') || isTaken(node, 'process', 'env'),
    only: PRODUCT,
    except: /^packages\/[a-z]+\/src\/config\/[a-z-]+\.ts$/,
  },
  { says: 'writes to the console', breaks: (node) => isMember(node, 'console'), only: PRODUCT },
  { says: 'imports node:process, which is global', breaks: importsProcess },
  { says: 'reads a clock or the network in pure code', breaks: readsClock, only: CORE },
  {
    says: 'reads the wall clock, which is injected',
    breaks: readsWallClock,
    only: PRODUCT,
    except: /^packages\/(shared\/src\/clock\.ts$|coordinator\/src\/core\/)/,
  },
  {
    says: "takes the system's clock instead of the injected one",
    breaks: (node) => isIdentifier(node, 'SYSTEM_CLOCK'),
    only: CLOCK_INJECTED,
  },
];

const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate', 'fetch']);

export function ruleFaults(file: SourceFile): string[] {
  const rules = RULES.filter(
    ({ only, except }) => only?.test(file.path) !== false && except?.test(file.path) !== true,
  );
  const faults: string[] = [];
  walk(file.tree, (node) => {
    for (const rule of rules) {
      if (rule.breaks(node)) faults.push(`${file.path}:${lineOf(file, node.start)} ${rule.says}`);
    }
  });
  return faults;
}

/** Notes to oneself: they go into an issue, or the work is done. */
export function noteFaults({ path, text }: SourceFile): string[] {
  return text
    .split('\n')
    .flatMap((line, i) =>
      NOTE.test(line) ? [`${path}:${i + 1} leaves a note: ${line.trim()}`] : [],
    );
}

/** The words that mark such a note, put together here so that this file does not find itself. */
export const NOTE_WORDS = ['TO-DO', 'FIX-ME', 'X-XX', 'HA-CK'].map((word) => word.replace('-', ''));
const NOTE = new RegExp(String.raw`\b(${NOTE_WORDS.join('|')})\b`);

const BANNED = ['utils', 'helpers', 'common', 'manager', 'service', 'controller', 'base', 'impl'];

/** File names: kebab-case, and none of the words that name nothing. */
export function nameFaults(path: string): string[] {
  const name = path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/(\.test|\.config)?\.(ts|tsx|js)$/, '');
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?$/.test(name)) return [`${path} is not in kebab-case`];
  const word = name.split('-').find((one) => BANNED.includes(one));
  return word === undefined ? [] : [`${path} is named "${word}", which names nothing`];
}

function isMember(node: Node, object: string, name?: string): boolean {
  if (node.type !== 'MemberExpression') return false;
  if (property(property(node, 'object'), 'name') !== object) return false;
  const key = property(node, 'property');
  return name === undefined || property(key, 'name') === name || property(key, 'value') === name;
}

/** `const { env } = process`. */
function isTaken(node: Node, object: string, name: string): boolean {
  if (node.type !== 'VariableDeclarator') return false;
  if (property(property(node, 'init'), 'name') !== object) return false;
  const taken = property(property(node, 'id'), 'properties');
  return (
    Array.isArray(taken) && taken.some((one) => property(property(one, 'key'), 'name') === name)
  );
}

function importsProcess(node: Node): boolean {
  const isImport = node.type === 'ImportDeclaration' || node.type === 'ImportExpression';
  return isImport && property(property(node, 'source'), 'value') === 'node:process';
}

function readsWallClock(node: Node): boolean {
  if (isMember(node, 'Date', 'now')) return true;
  if (node.type !== 'NewExpression') return false;
  const given = property(node, 'arguments');
  const isDate = property(property(node, 'callee'), 'name') === 'Date';
  return isDate && Array.isArray(given) && given.length === 0;
}

function isIdentifier(node: Node, name: string): boolean {
  return node.type === 'Identifier' && property(node, 'name') === name;
}

function readsClock(node: Node): boolean {
  if (readsWallClock(node) || isMember(node, 'performance', 'now')) return true;
  const callee = property(property(node, 'callee'), 'name');
  return node.type === 'CallExpression' && typeof callee === 'string' && TIMERS.has(callee);
}
