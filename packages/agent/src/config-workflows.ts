/** ComfyUI's workflows as their owner saved them: a folder of JSON files, each one model. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Workflow } from './backends/backend.js';
import { readGraph } from './backends/comfyui/workflow.js';
import type { ReadGraph } from './backends/comfyui/workflow.js';

export interface LoadedWorkflows {
  readonly workflows: readonly Workflow[];
  /** What is wrong with files, one line each, with the file's name first. */
  readonly wrong: readonly string[];
  /** Why the folder cannot be read; null where it can. */
  readonly missing: string | null;
}

const ENDING = '.json';
const MAX_WORKFLOWS = 64;
const MAX_WORKFLOW_BYTES = 1024 * 1024;

/** Reads every `*.json` of the folder, in the order of their names. */
export async function loadWorkflows(folder: string): Promise<LoadedWorkflows> {
  const names = await readdir(folder).catch((error: Error) => error);
  if (names instanceof Error) return { workflows: [], wrong: [], missing: names.message };
  const files = names.filter((name) => name.endsWith(ENDING) && !name.startsWith('.')).toSorted();
  const fault = countFault(files.length);
  if (fault !== null) return { workflows: [], wrong: [`${folder} ${fault}`], missing: null };
  const workflows: Workflow[] = [];
  const wrong: string[] = [];
  for (const file of files.map((name) => join(folder, name))) {
    const read = await readFileOf(file);
    if (read.kind === 'graph') workflows.push({ id: basename(file, ENDING), graph: read.graph });
    else wrong.push(...read.faults.map((one) => `${file} ${one}`));
  }
  return { workflows, wrong, missing: null };
}

function countFault(count: number): string | null {
  if (count === 0) return 'has no *.json: save a workflow there with File > Export (API)';
  return count > MAX_WORKFLOWS ? `has ${count} workflows: ${MAX_WORKFLOWS} are the most` : null;
}

async function readFileOf(file: string): Promise<ReadGraph> {
  try {
    const { size } = await stat(file);
    if (size <= MAX_WORKFLOW_BYTES) return readGraph(await readFile(file, 'utf8'));
    return faulty(`has ${size} bytes: ${MAX_WORKFLOW_BYTES} are the most`);
  } catch (error) {
    return faulty(`cannot be read: ${(error as Error).message}`);
  }
}

function faulty(fault: string): ReadGraph {
  return { kind: 'faulty', faults: [fault] };
}
