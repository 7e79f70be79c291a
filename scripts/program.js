// Runs the project's programs with Node, without settings that happen to be in this environment.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const KEPT_LINES = 20;

/** Every process that has not ended yet, oldest first. @type {Set<Launched>} */
const running = new Set();

/**
 * @typedef {object} Launched
 * @property {import('node:child_process').ChildProcessWithoutNullStreams} child
 * @property {Promise<number | string | null>} exited
 * @property {string[]} tail The last lines of its stderr.
 */

/** @typedef {(name: string, line: string) => void} OnLine Is told each line of its stderr. */

/**
 * Starts a program and waits until a line of its stdout matches.
 * @param {{ name: string, args: string[], onLine?: OnLine | undefined }} program
 * @param {RegExp} readyLine
 * @returns {Promise<{ ready: string, ended: Promise<string>, tail: readonly string[] }>} What the
 *   pattern's first group matched, a report that comes when the program ends, and the last lines of
 *   its stderr.
 */
export async function startProgram({ name, args, onLine = () => {} }, readyLine) {
  const { child, exited, tail } = launch(args, (line) => onLine(name, line));
  const ended = exited.then((code) => `the ${name} ended (${code}).\n${tail.join('\n')}`);
  const ready = await Promise.race([
    lineOf(child, readyLine),
    ended.then((report) => Promise.reject(new Error(report))),
    timeout(`the ${name} was not ready after ${READY_TIMEOUT_MS / 1000} s`, tail),
  ]);
  return { ready, ended, tail };
}

/** Stops whatever was started and still runs, the newest first; after 10 s by force. */
export async function stopPrograms() {
  for (const { child, exited } of [...running].toReversed()) {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(force);
  }
}

/**
 * Runs a command to its end and returns its stdout.
 * @param {string[]} args
 * @param {string} [input]
 * @returns {Promise<string>}
 */
export async function runToEnd(args, input = '') {
  const { child, exited, tail } = launch(args);
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stdin.end(input);
  const code = await exited;
  if (code === 0) return output.trim();
  throw new Error(`"${args.slice(1).join(' ')}" exited ${code}.\n${tail.join('\n')}`);
}

/** @param {string[]} args @param {(line: string) => void} [onLine] @returns {Launched} */
function launch(args, onLine = () => {}) {
  // A group of its own: Ctrl-C in the terminal reaches the script alone, which then stops it in
  // order.
  const detached = process.platform !== 'win32';
  const withMaps = ['--enable-source-maps', ...args];
  const child = spawn(process.execPath, withMaps, { env: cleanEnvironment(), detached });
  child.stdout.setEncoding('utf8');
  /** @type {string[]} */
  const tail = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    tail.push(line);
    if (tail.length > KEPT_LINES) tail.shift();
    onLine(line);
  });
  // A command that ends without reading its input is no failure of the pipe.
  child.stdin.on('error', () => {});
  /** @type {Promise<number | string | null>} */
  const exited = new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
  });
  const launched = { child, exited, tail };
  running.add(launched);
  void exited.finally(() => running.delete(launched)).catch(() => {});
  return launched;
}

/**
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} child @param {RegExp}
 * pattern
 */
function lineOf(child, pattern) {
  return new Promise((/** @type {(text: string) => void} */ resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = pattern.exec(line);
      if (match !== null) resolve(match[1] ?? '');
    });
  });
}

/** @param {string} message @param {string[]} tail @returns {Promise<never>} */
function timeout(message, tail) {
  return new Promise((_, reject) => {
    const fail = () => reject(new Error(`${message}.\n${tail.join('\n')}`));
    setTimeout(fail, READY_TIMEOUT_MS).unref();
  });
}

function cleanEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_'));
  return Object.fromEntries(entries);
}
