/** Services as the agent runs them: the file's entries with defaults and keys filled in. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { dirname, resolve, basename, join } from 'node:path';
import type { ConfiguredModel, ServiceConfig, Workflow } from '../backends/backend.js';
import { OWN_TYPES } from '../backends/create-backend.js';
import { dayHours, serviceId, trimSlashes } from './schema.js';
import type { FileService } from './schema.js';
import { readGraph } from '../backends/comfyui/workflow.js';
import type { ReadGraph } from '../backends/comfyui/workflow.js';

export interface LoadedServices {
  readonly services: readonly ServiceConfig[];
  /** Unreadable files, one line each. */
  readonly problems: readonly string[];
  /** Faults in files, and settings that contradict each other. */
  readonly wrong: readonly string[];
}

/**
 * Reads each service's key and workflows, and fills in its defaults. File paths are relative to the
 * configuration.
 */
export async function loadServices(
  entries: readonly FileService[],
  configFile: string,
): Promise<LoadedServices> {
  const folder = dirname(configFile);
  const problems: string[] = [];
  const wrong: string[] = [];
  const services: ServiceConfig[] = [];
  for (const [index, entry] of entries.entries()) {
    const place = `services[${index}]`;
    const key = await readKey(entry, folder);
    if (key.fault !== null) problems.push(`${place}.api_key_file ${key.fault}`);
    const read = await readWorkflows(entry, folder);
    if (read.missing !== null) problems.push(`${place}.workflows cannot be read: ${read.missing}`);
    wrong.push(...read.wrong.map((fault) => `${place}.workflows: ${fault}`));
    wrong.push(...typeFault(entry).map((fault) => `${place}.type ${fault}`));
    const own = { workflows: read.workflows, modelsFolder: modelsFolder(entry, folder) };
    services.push({ ...toService(entry, key.key), ...own });
  }
  return { services, problems, wrong };
}

/** Fills in the defaults of one entry. */
export function toService(entry: FileService, apiKey: string | null): ServiceConfig {
  return {
    id: serviceId(entry),
    type: entry.type,
    backend: entry.backend,
    baseUrl: trimSlashes(entry.base_url),
    apiKey,
    slots: entry.slots ?? null,
    slotGroup: entry.slot_group ?? null,
    models: entry.models?.map(toModel) ?? null,
    dropFields: entry.drop_fields ?? [],
    foreign: entry.foreign ?? true,
    hours: entry.hours === undefined ? null : dayHours(entry.hours),
    prove: entry.prove ?? false,
    workflows: [],
    modelsFolder: null,
  };
}

function modelsFolder({ models_folder: named }: FileService, folder: string): string | null {
  return named === undefined ? null : resolve(folder, named);
}

/** Otherwise its models would be offered with the wrong type, and fail at every request. */
function typeFault({ backend, type }: FileService): string[] {
  const own = OWN_TYPES[backend];
  return own === undefined || own.includes(type)
    ? []
    : [`is "${type}": backend ${backend} serves ${own.join(' and ')} alone`];
}

function toModel(model: NonNullable<FileService['models']>[number]): ConfiguredModel {
  return {
    id: model.id,
    servedName: model.served_name ?? model.id,
    contextLength: model.context_length ?? null,
    inputModalities: model.input_modalities ?? null,
    supportedFeatures: model.supported_features ?? null,
    voices: model.voices ?? null,
  };
}

const NO_WORKFLOWS: LoadedWorkflows = { workflows: [], wrong: [], missing: null };

async function readWorkflows(entry: FileService, folder: string): Promise<LoadedWorkflows> {
  const { workflows, backend, type } = entry;
  if (workflows !== undefined && backend !== 'comfyui') {
    const wrong = [`backend ${backend} has none: leave it away, or set backend to comfyui`];
    return { ...NO_WORKFLOWS, wrong };
  }
  if (workflows !== undefined) return loadWorkflows(resolve(folder, workflows));
  if (backend !== 'comfyui' || type === 'image') return NO_WORKFLOWS;
  const wrong = [`a ${type} service of ComfyUI needs them: name a folder with *.json`];
  return { ...NO_WORKFLOWS, wrong };
}

interface Key {
  readonly key: string | null;
  readonly fault: string | null;
}

async function readKey({ api_key_file: file }: FileService, folder: string): Promise<Key> {
  if (file === undefined) return { key: null, fault: null };
  try {
    const key = (await readFile(resolve(folder, file), 'utf8')).trim();
    const fault = key === '' ? `is ${resolve(folder, file)}, which is empty` : null;
    return { key, fault };
  } catch (error) {
    return { key: null, fault: `cannot be read: ${(error as Error).message}` };
  }
}

// The owner's ComfyUI workflows: a folder of JSON files, each one model.

interface LoadedWorkflows {
  readonly workflows: readonly Workflow[];
  /** Faults of files, one line each, after the file's name. */
  readonly wrong: readonly string[];
  /** Why the folder cannot be read; null if it can. */
  readonly missing: string | null;
}

const ENDING = '.json';

const MAX_WORKFLOWS = 64;

const MAX_WORKFLOW_BYTES = 1024 * 1024;

/** Reads every `*.json` of the folder, in name order. */
async function loadWorkflows(folder: string): Promise<LoadedWorkflows> {
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
