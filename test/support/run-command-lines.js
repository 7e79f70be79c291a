/**
 * Runs command lines of a bundled program, one after another, in this process, which starts only
 * once. Each line of stdin is a JSON object with words and environment; each line of stdout is one
 * with exit code and output.
 */
import { createInterface } from 'node:readline';
import { runProgram } from '@inference-gateway/shared/program/run-program';

const [, script = '', name] = process.argv;
const { PATH } = process.env;
const bundled = `../../build/programs/gateway-${name}/dist/cli/program.js`;
const { createProgram } = await import(new URL(bundled, import.meta.url));
const write = process.stdout.write.bind(process.stdout);
// Each run adds listeners, and Node's warning about many of them would look like a command's
// output.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0);

for await (const line of createInterface({ input: process.stdin })) {
  write(`${JSON.stringify(await run(JSON.parse(line)))}\n`);
}

async function run({ words, env }) {
  setEnvironment(env);
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr']) {
    process[stream].write = (text) => {
      output[stream] += text;
      return true;
    };
  }
  process.argv = [process.execPath, script, ...words];
  process.exitCode = 0;
  await runProgram(createProgram(), process.argv);
  return { code: process.exitCode, ...output };
}

/** Sets the environment that a new process for this command would have. */
function setEnvironment(env) {
  const own = { PATH, ...env };
  for (const name of Object.keys(process.env)) if (!(name in own)) delete process.env[name];
  Object.assign(process.env, own);
}
