// Processes of the test of packages.
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';

const READY_MS = 60_000;
const KEPT_LINES = 30;

/** A step that this machine cannot run; the message says what is missing. */
export class Missing extends Error {}

/** @param {string} program @param {string} how How to get it. */
export function requireProgram(program, how) {
  const { status } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]);
  if (status !== 0) throw new Missing(`${program} is missing: ${how}`);
}

/**
 * @typedef {{ cwd?: string, input?: string, env?: Record<string, string> }} Options
 */

/**
 * Runs a command to its end.
 * @param {readonly string[]} command
 * @param {Options} [options]
 * @returns {Promise<string>} Its stdout.
 */
export async function run(command, options = {}) {
  const { code, stdout, stderr } = await outcome(command, options);
  if (code === 0) return stdout.trim();
  const tail = `${stdout}${stderr}`.trim().split('\n').slice(-KEPT_LINES).join('\n');
  throw new Error(`"${command.join(' ')}" exited ${code}:\n${tail}`);
}

/**
 * @param {readonly string[]} command
 * @param {Options} [options]
 * @returns {Promise<{ code: number | string | null, stdout: string, stderr: string }>}
 */
export async function outcome([program = '', ...args], { cwd, input = '', env = {} } = {}) {
  const child = spawn(program, args, { cwd, env: environment(env) });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {}).end(input);
  const code = await ended(child);
  return { code, stdout, stderr };
}

/**
 * @typedef {object} Started
 * @property {string} ready What the first group of the pattern matched.
 * @property {() => string} output
 * @property {() => Promise<{ code: number | string | null, ms: number }>} stop Sends SIGTERM.
 */

/** @type {Set<Started>} */
const running = new Set();

/**
 * Starts a program and waits for a line of its output.
 * @param {readonly string[]} command
 * @param {RegExp} readyLine
 * @param {Options} [options]
 * @returns {Promise<Started>}
 */
export async function start([program = '', ...args], readyLine, { cwd, env = {} } = {}) {
  const child = spawn(program, args, {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = ended(child);
  /** @type {string[]} */
  const lines = [];
  /** @type {Promise<string>} */
  const ready = new Promise((resolve) => {
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', (line) => {
        lines.push(line);
        const match = readyLine.exec(line);
        if (match !== null) resolve(match[1] ?? '');
      });
    }
  });
  const output = () => lines.slice(-KEPT_LINES).join('\n');
  const stop = async () => {
    const begin = performance.now();
    child.kill('SIGTERM');
    const code = await exited;
    running.delete(started);
    return { code, ms: Math.round(performance.now() - begin) };
  };
  /** @type {Started} */
  const started = { ready: '', output, stop };
  running.add(started);
  const failed = Promise.race([exited, expiry()]).then((code) => {
    throw new Error(`"${[program, ...args].join(' ')}" is not ready (${code}):\n${output()}`);
  });
  started.ready = await Promise.race([ready, failed]);
  return started;
}

/** Whatever a failed step has left running. */
export async function stopAll() {
  for (const one of [...running].toReversed()) await one.stop();
}

/** @param {import('node:child_process').ChildProcess} child */
function ended(child) {
  return new Promise((/** @type {(code: number | string | null) => void} */ resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
}

/** @returns {Promise<string>} */
function expiry() {
  return new Promise((resolve) => {
    setTimeout(() => resolve(`after ${READY_MS / 1000} s`), READY_MS).unref();
  });
}

/** Without settings that happen to be in this environment. @param {Record<string, string>} more */
function environment(more) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GATEWAY|npm)_/i.test(name));
  return { ...Object.fromEntries(kept), ...more };
}

/**
 * Polls until the question has an answer.
 * @template Answer
 * @param {string} what For the error, if it never has.
 * @param {() => Promise<Answer | null>} question
 * @returns {Promise<Answer>}
 */
export async function until(what, question) {
  const end = performance.now() + READY_MS;
  for (;;) {
    const answer = await question();
    if (answer !== null) return answer;
    if (performance.now() > end) throw new Error(`${what}: not within ${READY_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
