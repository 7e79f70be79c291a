/** Services as the agent runs them: the file's entries with their defaults and keys filled in. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ConfiguredModel, ServiceConfig } from './backends/backend.js';
import { serviceId } from './config-schema.js';
import type { FileService } from './config-schema.js';
import { trimSlashes } from './config-url.js';

export interface LoadedServices {
  readonly services: readonly ServiceConfig[];
  /** Key files that cannot be read, one line each. */
  readonly problems: readonly string[];
}

/**
 * Reads each service's key and fills in its defaults. Key files lie relative to the
 * configuration.
 */
export async function loadServices(
  entries: readonly FileService[],
  configFile: string,
): Promise<LoadedServices> {
  const problems: string[] = [];
  const services: ServiceConfig[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = await readKey(entry, dirname(configFile));
    if (key.fault !== null) problems.push(`services[${index}].api_key_file ${key.fault}`);
    services.push(toService(entry, key.key));
  }
  return { services, problems };
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
  };
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
