/** The allowed sizes: a file, a function and a line must each be readable as one unit. */
import { lineOf, property, walk } from './source-file.js';
import type { Node, SourceFile } from './source-file.js';

const BUDGET = { fileLines: 500, functionLines: 100, parameters: 3, nesting: 3, columns: 100 };

/** Files too long, and lines too wide. */
export function textFaults({ path, text }: SourceFile): string[] {
  const lines = text.trimEnd().split('\n');
  const long = lines.length > BUDGET.fileLines ? [`${path} has ${lines.length} lines`] : [];
  const wide = lines.flatMap((line, i) =>
    line.length > BUDGET.columns ? [`${path}:${i + 1} has ${line.length} columns`] : [],
  );
  return [...long, ...wide];
}

/** Functions too long, with too many parameters, or nested too deep. */
export function functionFaults(file: SourceFile): string[] {
  const faults: string[] = [];
  walk(file.tree, (node, ancestors) => {
    const fault = FUNCTIONS.has(node.type) ? sizeFault(file, node) : depthFault(node, ancestors);
    if (fault !== null) faults.push(`${file.path}:${lineOf(file, node.start)} ${fault}`);
  });
  return faults;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const BLOCKS = new Set([
  'IfStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'SwitchStatement',
  'TryStatement',
]);

function sizeFault(file: SourceFile, node: Node): string | null {
  const lines = lineOf(file, node.end) - lineOf(file, node.start) + 1;
  if (lines > BUDGET.functionLines) return `is a function of ${lines} lines`;
  const parameters = parametersOf(node);
  return parameters > BUDGET.parameters ? `is a function of ${parameters} parameters` : null;
}

function parametersOf(node: Node): number {
  const list = property(node, 'params');
  return Array.isArray(list) ? list.filter((one) => property(one, 'name') !== 'this').length : 0;
}

function depthFault(node: Node, ancestors: readonly Node[]): string | null {
  if (!BLOCKS.has(node.type)) return null;
  const parent = ancestors.at(-1);
  // `else if` has the nesting of its `if`.
  if (parent?.type === 'IfStatement' && property(parent, 'alternate') === node) return null;
  const from = ancestors.findLastIndex(({ type }) => FUNCTIONS.has(type)) + 1;
  const chain = [...ancestors.slice(from), node].filter(({ type }) => BLOCKS.has(type));
  const depth = chain.length - elseIfs(chain);
  return depth > BUDGET.nesting ? `is nested ${depth} deep` : null;
}

function elseIfs(chain: readonly Node[]): number {
  return chain.filter((node, i) => i > 0 && property(chain[i - 1], 'alternate') === node).length;
}
